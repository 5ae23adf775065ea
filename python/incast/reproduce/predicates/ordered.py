"""`ordered`: curves that lie above each other."""

from dataclasses import dataclass, field
from itertools import pairwise

from incast.reproduce.data import Curves
from incast.reproduce.metrics import Named
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import show


@dataclass(frozen=True)
class Ordered:
    """Whether each curve in the list lies above the next one, at every point.

    Parameters
    ----------
    above
        Labels of the curves, the highest first.
    metric
        The metric to compare; by default the drawn one.
    start, end
        The first and the last point that count (`from` and `to` in a figure).
    factor
        Minimum ratio of each curve to the next.
    at_most
        Maximum ratio of each curve to the next, for a text that says "slightly".
    tolerance
        How far a curve may miss either bound, as a share of the next curve's value.
    except_for
        Number of points at which the order may be broken.
    """

    above: list[str]
    metric: Named | None = None
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})
    factor: float = 1.0
    at_most: float = float("inf")
    tolerance: float = 0.0
    except_for: int = 0

    def series(self) -> set[str]:
        """Return the labels."""
        return set(self.above)

    def judge(self, curves: Curves) -> Finding:
        """Compare point by point."""
        common, values = curves.together(self.above, self.metric, self.start, self.end)
        broken, worst, least = [], None, float("inf")
        for x in common:
            for high, low in pairwise(values):
                missing = self.tolerance * abs(low[x])
                ratio = high[x] / low[x] if low[x] else float("inf")
                enough = high[x] >= self.factor * low[x] - missing
                if not (enough and self._near(high[x], low[x], missing)):
                    broken.append(x)
                if ratio < least:
                    worst, least = (x, high[x], low[x]), ratio
        missed = list(dict.fromkeys(broken))
        said = f"in order at {len(common) - len(missed)} of {len(common)} points"
        if missed:
            said += f", not at {', '.join(map(str, missed[:6]))}{' …' * (len(missed) > 6)}"  # noqa: PLR2004
        if worst is not None:
            said += f"; smallest ratio at {worst[0]}: {show(worst[1])} and {show(worst[2])}"
        return Finding(len(missed) <= self.except_for, said)

    def _near(self, high: float, low: float, missing: float) -> bool:
        return self.at_most == float("inf") or high <= self.at_most * low + missing
