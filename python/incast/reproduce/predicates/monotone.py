"""`monotone`: a curve that only rises, or only falls."""

from dataclasses import dataclass, field
from typing import Literal

from incast.reproduce.data import Curves, Unjudged
from incast.reproduce.metrics import Named
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import show


@dataclass(frozen=True)
class Monotone:
    """Whether every listed curve only rises, or only falls.

    Parameters
    ----------
    curves
        Labels of the curves.
    direction
        `rising` or `falling`. Flat stretches are allowed, but not a curve that is flat throughout.
    metric
        The metric to compare; by default the drawn one.
    start, end
        The first and the last point that count (`from` and `to` in a figure).
    tolerance
        Largest step against the direction, as a share of the highest value so far (for `falling`,
        of the lowest value).
    """

    curves: list[str]
    direction: Literal["rising", "falling"]
    metric: Named | None = None
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})
    tolerance: float = 0.0

    def series(self) -> set[str]:
        """Return the labels."""
        return set(self.curves)

    def judge(self, curves: Curves) -> Finding:
        """Check each step of each curve."""
        sign = 1 if self.direction == "rising" else -1
        said, holds = [], True
        for label in self.curves:
            values = curves.values(label, self.metric, self.start, self.end)
            points = list(values.items())
            if len(points) < 2:  # noqa: PLR2004 (a step)
                raise Unjudged(f"{label} has fewer than two points in this range")
            ends = f"{show(points[0][1])} to {show(points[-1][1])}"
            best, wrong = sign * points[0][1], []
            for x, value in points[1:]:
                if sign * value < best - self.tolerance * abs(best):
                    wrong.append(str(x))
                best = max(best, sign * value)
            flat = best == sign * points[0][1]
            holds = holds and not wrong and not flat
            told = f", against it at {', '.join(wrong)}" if wrong else ", no change" * flat
            said.append(f"{label}: {ends}{told}")
        return Finding(holds, "; ".join(said))
