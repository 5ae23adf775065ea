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

MEDIAN, WORST, TIMEOUTS, KNEES, UNTRUSTED = 0.10, 0.30, 0.30, 0.9, 0.1


@dataclass(frozen=True)
class Judged:
    """A prediction, and what the kernel said, by the number of servers.

    Parameters
    ----------
    prediction
        What was predicted.
    told
        The means of the trusted runs; None if there was none.
    """

    prediction: Prediction
    told: dict[int, Told | None]

    @property
    def log_ratio(self) -> float:
        """ln(measured / predicted) of a plateau's goodput; NaN without a trusted run."""
        told = self.told[self.prediction.servers]
        if told is None:
            return math.nan
        return math.log(told.goodput / 1e6 / self.prediction.goodput_mbps)

    @property
    def timeout_error(self) -> float:
        """Measured over predicted timeouts per block, less 1; 0 where neither has one."""
        told, predicted = self.told[self.prediction.servers], self.prediction.timeouts_per_block
        if told is None:
            return math.nan
        if max(told.timeouts, predicted) < 1:
            return 0.0
        return told.timeouts / predicted - 1 if predicted else math.inf

    @property
    def is_right(self) -> bool:
        """Whether a knee lies in its interval."""
        low, high = (self.told[count] for count in self.prediction.servers_to_run())
        return bool(low and high and not low.collapsed and high.collapsed)


def judged(predictions: Sequence[Prediction], answers: Sequence[Answer]) -> list[Judged]:
    """Put the answers beside the predictions."""
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
    """Return whether the kernel was asked every question once."""
    asked = sorted((one.point, one.servers, one.seed) for one in answers)
    due = sorted(runs(predictions))
    return Verdict("every run was done once", f"{len(asked)} of {len(due)}", (), asked == due)


def verdicts(found: Sequence[Judged], answers: Sequence[Answer]) -> list[Verdict]:
    """Hold the predictions against the bars."""
    plateaus = [one for one in found if one.prediction.kind == "plateau"]
    knees = [one for one in found if one.prediction.kind == "knee"]
    logs = [abs(one.log_ratio) for one in plateaus if not math.isnan(one.log_ratio)]
    far = [one for one in plateaus if not abs(one.log_ratio) <= WORST]
    wrong = [one for one in plateaus if not abs(one.timeout_error) <= TIMEOUTS]
    missed = [one for one in knees if not one.is_right]
    doubted = sum(one.status == "untrusted" for one in answers)
    return [
        Verdict(
            f"median |ln goodput ratio| of plateaus at most {MEDIAN:g}",
            f"{statistics.median(logs):.3f} of {len(logs)} plateaus",
            (),
            statistics.median(logs) <= MEDIAN,
        ),
        Verdict(
            f"|ln goodput ratio| of every plateau at most {WORST:g}",
            f"{len(plateaus) - len(far)} of {len(plateaus)}; worst {max(logs):.2f}",
            tuple(f"{name(one)}: {one.log_ratio:+.2f}" for one in far),
            not far,
        ),
        Verdict(
            f"timeouts per block within {TIMEOUTS:.0%} where there is at least one",
            f"{len(plateaus) - len(wrong)} of {len(plateaus)}",
            tuple(f"{name(one)}: {one.timeout_error:+.0%}" for one in wrong),
            not wrong,
        ),
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


def name(one: Judged) -> str:
    """Return the words for a point."""
    counts = " and ".join(map(str, one.prediction.servers_to_run()))
    return f"{one.prediction.name}, {counts} servers"
