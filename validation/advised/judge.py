"""Judge the measured gains against the predicted gains, and the state after the rollback."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.advised.ask import SEEDS
from validation.common.judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.advised.ask import Answer
    from validation.advised.predict import Prediction

NEAR, MOST, LEAST_POINTS = 0.25, 0.8, 20
LEAST_OF_A_SAMPLE = 1.2


@dataclass(frozen=True)
class Judged:
    """A prediction, and the measurements on the kernel.

    Parameters
    ----------
    number, prediction
        Number of the prediction, and the prediction.
    before, after
        Means of the trusted runs without and with the fix; NaN if no run is trusted. The goal of
        the prediction decides the quantity: goodput in Mbit/s, or the 99th percentile of the block
        times in ms.
    timeouts
        Timeouts per block, without and with the fix.
    """

    number: int
    prediction: Prediction
    before: float
    after: float
    timeouts: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Measured gain: the ratio of goodputs, or of times for the goal p99; above 1 is better."""
        if self.prediction.goal == "p99":
            return self.before / self.after
        return self.after / self.before

    @property
    def error(self) -> float:
        """Measured gain divided by the predicted gain, minus 1."""
        return self.ratio / self.prediction.ratio - 1

    @property
    def is_near(self) -> bool:
        """Whether the measured gain is close to the predicted gain."""
        return abs(self.error) <= NEAR

    @property
    def name(self) -> str:
        """Name of the prediction in a table."""
        return f"{self.number} ({self.prediction.name})"


def judged(predictions: Sequence[Prediction], answers: Sequence[Answer]) -> list[Judged]:
    """Pair each prediction with its measurements."""
    found = []
    for number, prediction in enumerate(predictions):
        mine = [one for one in answers if one.point == number and one.status != "untrusted"]
        sides = [[one for one in mine if one.fixed == fixed] for fixed in (0, 1)]
        late = prediction.goal == "p99"
        means = [
            statistics.fmean(one.p99_ms if late else one.goodput_mbps for one in it)
            if it
            else math.nan
            for it in sides
        ]
        waits = [
            sum(one.timeouts for one in it) / max(sum(one.blocks for one in it), 1) for it in sides
        ]
        found.append(Judged(number, prediction, means[0], means[1], (waits[0], waits[1])))
    return found


def complete(predictions: Sequence[Prediction], answers: Sequence[Answer]) -> Verdict:
    """Judge whether every prediction was measured with every seed, with and without its fix."""
    asked = {(one.point, one.fixed, one.seed) for one in answers}
    due = {(n, f, s) for n in range(len(predictions)) for f in (0, 1) for s in SEEDS}
    told = f"{len(asked & due)} of {len(due)}"
    return Verdict("every prediction was measured", told, (), asked == due)


def verdicts(found: Sequence[Judged], answers: Sequence[Answer]) -> list[Verdict]:
    """Compare the gains and the states with the bars."""
    told = [one for one in found if not math.isnan(one.error)]
    far = [one for one in told if not one.is_near]
    worse = [one for one in told if one.ratio < 1]
    given = [one for one in answers if one.restored >= 0]
    left = [one for one in given if not one.restored]
    idle = [one for one in given if not one.changed]
    return [
        Verdict(
            f"at least {LEAST_POINTS} fixes have trusted runs with and without the fix",
            f"{len(told)} of {len(found)}",
            tuple(one.name for one in found if one not in told),
            len(told) >= LEAST_POINTS,
        ),
        Verdict(
            f"{MOST:.0%} of the measured gains within ± {NEAR:.0%} of the prediction",
            f"{len(told) - len(far)} of {len(told)}",
            tuple(
                f"{one.name}: × {one.ratio:.2f} measured, × {one.prediction.ratio:.2f} predicted, "
                f"{one.error:+.0%}"
                for one in far
            ),
            len(far) <= (1 - MOST) * len(told),
        ),
        Verdict(
            "every fix is a gain",
            f"{len(told) - len(worse)} of {len(told)}",
            tuple(one.name for one in worse),
            not worse,
        ),
        _of_states("the commands change the state", given, idle),
        _of_states("the rollback restores the state byte for byte", given, left),
    ]


def of_a_sample(found: Judged, answers: Sequence[Answer]) -> list[Verdict]:
    """Compare one fix with its bars. If no run is trusted, the gain is not judged."""
    given = [one for one in answers if one.restored >= 0]
    left = [one for one in given if not (one.restored and one.changed)]
    held = [_of_states("the rollback restores the state byte for byte", given, left)]
    if not math.isnan(found.ratio):
        held.append(
            Verdict(
                f"“{found.prediction.name}” gains at least × {LEAST_OF_A_SAMPLE:g}",
                f"× {found.ratio:.2f}",
                (),
                found.ratio >= LEAST_OF_A_SAMPLE,
            )
        )
    return held


def _of_states(bar: str, given: Sequence[Answer], missed: Sequence[Answer]) -> Verdict:
    points = sorted({one.point for one in missed})
    told = f"{len(given) - len(missed)} of {len(given)} times"
    return Verdict(bar, told, tuple(map(str, points)), bool(given) and not missed)
