"""The bars of the blind predictions."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.common.judge import Verdict
from validation.live.predict import runs, summed_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.live.ask import Answer
    from validation.live.predict import Prediction, Told

KNEES, UNTRUSTED = 0.9, 0.1


@dataclass(frozen=True)
class Bars:
    """The limits of a set.

    Parameters
    ----------
    median, worst
        Limits for the median |ln goodput ratio| and for the largest.
    worst_fast
        Limit for the largest |ln goodput ratio| at 100 Mbit/s, where two processors slow the hosts.
    timeouts, some, share
        Timeouts per block are right if their relative error is at most `timeouts`, or if their
        error is less than `some`. They must be right at this share of the points.
    block
        Limit for the median error of the median block time; None if block times were not measured.
    """

    median: float = 0.10
    worst: float = 0.30
    worst_fast: float = 0.30
    timeouts: float = 0.30
    some: float = 0.0
    share: float = 1.0
    block: float | None = None


WIDE = Bars(median=0.06, worst_fast=0.50, some=0.3, share=0.8, block=0.05)
"""Limits of the sets at several rates."""


@dataclass(frozen=True)
class Judged:
    """A prediction, and the measurements of the kernel for each number of servers.

    Parameters
    ----------
    prediction
        The prediction.
    told
        For each number of servers, the means of the trusted runs; None if no run is trusted.
    """

    prediction: Prediction
    told: dict[int, Told | None]

    @property
    def log_ratio(self) -> float:
        """ln(measured / predicted goodput) of a plateau; NaN without a trusted run."""
        told = self.told[self.prediction.servers]
        if told is None:
            return math.nan
        return math.log(told.goodput / 1e6 / self.prediction.goodput_mbps)

    def timeout_error(self, bars: Bars) -> float:
        """Relative error of timeouts per block; 0 if there are few, or the difference is small."""
        told, predicted = self.told[self.prediction.servers], self.prediction.timeouts_per_block
        if told is None:
            return math.nan
        few = max(told.timeouts, predicted) < 1 and not bars.some
        if few or abs(told.timeouts - predicted) <= bars.some:
            return 0.0
        return told.timeouts / predicted - 1 if predicted else math.inf

    @property
    def block_error(self) -> float:
        """Relative error of the predicted median time of a block; NaN without trusted runs."""
        told = self.told[self.prediction.servers]
        return math.nan if told is None else told.block * 1e3 / self.prediction.block_ms - 1

    def worst(self, bars: Bars) -> float:
        """Return the limit for the point's |ln goodput ratio|."""
        return bars.worst_fast if self.prediction.rate == "100Mbps" else bars.worst

    @property
    def is_right(self) -> bool:
        """Whether the kernel's knee lies in the predicted interval."""
        low, high = (self.told[count] for count in self.prediction.servers_to_run())
        return bool(low and high and not low.collapsed and high.collapsed)


def judged(predictions: Sequence[Prediction], answers: Sequence[Answer]) -> list[Judged]:
    """Pair each prediction with its measurements."""
    return [
        Judged(
            prediction,
            {
                count: _told(prediction, count, [one for one in answers if one.point == point])
                for count in prediction.servers_to_run()
            },
        )
        for point, prediction in enumerate(predictions)
    ]


def _told(prediction: Prediction, servers: int, answers: Sequence[Answer]) -> Told | None:
    rows = [one.row for one in answers if one.servers == servers and one.status == "ok"]
    document = prediction.document(servers, prediction.blocks)
    return summed_up(document, rows) if rows else None


def complete(predictions: Sequence[Prediction], answers: Sequence[Answer]) -> Verdict:
    """Judge whether every run was done exactly once."""
    asked = sorted((one.point, one.servers, one.seed) for one in answers)
    due = sorted(runs(predictions))
    return Verdict("every run was done once", f"{len(asked)} of {len(due)}", (), asked == due)


def verdicts(found: Sequence[Judged], answers: Sequence[Answer], bars: Bars) -> list[Verdict]:
    """Judge the predictions by the bars."""
    plateaus = [one for one in found if one.prediction.kind == "plateau"]
    knees = [one for one in found if one.prediction.kind == "knee"]
    missed = [one for one in knees if not one.is_right]
    doubted = sum(one.status == "untrusted" for one in answers)
    return [
        *of_plateaus(plateaus, bars),
        Verdict(
            f"{KNEES:.0%} of the knees in their intervals",
            f"{len(knees) - len(missed)} of {len(knees)}",
            tuple(name(one) for one in missed),
            len(missed) <= (1 - KNEES) * len(knees),
        ),
        Verdict(
            f"at most {UNTRUSTED:.0%} of the runs untrusted",
            f"{doubted} of {len(answers)}",
            (),
            doubted <= UNTRUSTED * len(answers),
        ),
    ]


def of_plateaus(plateaus: Sequence[Judged], bars: Bars) -> list[Verdict]:
    """Judge the values of plateaus by the bars."""
    logs = [abs(one.log_ratio) for one in plateaus if not math.isnan(one.log_ratio)]
    far = [one for one in plateaus if not abs(one.log_ratio) <= one.worst(bars)]
    wrong = [one for one in plateaus if not abs(one.timeout_error(bars)) <= bars.timeouts]
    fast = "" if bars.worst_fast == bars.worst else f", {bars.worst_fast:g} at 100 Mbit/s"
    least = f"or within {bars.some:g}" if bars.some else "where there is at least one"
    return [
        Verdict(
            f"median |ln goodput ratio| of plateaus at most {bars.median:g}",
            f"{statistics.median(logs):.3f} of {len(logs)} plateaus",
            (),
            statistics.median(logs) <= bars.median,
        ),
        Verdict(
            f"|ln goodput ratio| of every plateau at most {bars.worst:g}{fast}",
            f"{len(plateaus) - len(far)} of {len(plateaus)}; worst {max(logs):.2f}",
            tuple(f"{name(one)}: {one.log_ratio:+.2f}" for one in far),
            not far,
        ),
        Verdict(
            f"timeouts per block within {bars.timeouts:.0%} {least}"
            + (f" in {bars.share:.0%}" if bars.share < 1 else ""),
            f"{len(plateaus) - len(wrong)} of {len(plateaus)}",
            tuple(f"{name(one)}: {one.timeout_error(bars):+.0%}" for one in wrong),
            len(wrong) <= (1 - bars.share) * len(plateaus),
        ),
        *_block(plateaus, bars),
    ]


def _block(plateaus: Sequence[Judged], bars: Bars) -> list[Verdict]:
    if bars.block is None:
        return []
    errors = [abs(one.block_error) for one in plateaus if not math.isnan(one.block_error)]
    median = statistics.median(errors)
    bar = f"median block time within {bars.block:.0%}, median of the plateaus"
    return [Verdict(bar, f"{median:.1%}", (), median <= bars.block)]


def name(one: Judged) -> str:
    """Return the name of a point."""
    counts = " and ".join(map(str, one.prediction.servers_to_run()))
    return f"{one.prediction.name}, {counts} servers"
