"""`close`: curves that are nearly the same."""

from dataclasses import dataclass, field

from incast.reproduce.data import Curves
from incast.reproduce.metrics import Named
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import show


@dataclass(frozen=True)
class Close:
    """Whether curves differ by at most a share of the largest value, at every point.

    Parameters
    ----------
    curves
        Labels of the curves.
    within
        The largest allowed difference, as a share of the largest value.
    metric
        The metric to compare; by default the drawn one.
    start, end
        The first and the last point that count (`from` and `to` in a figure).
    """

    curves: list[str]
    within: float
    metric: Named | None = None
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})

    def series(self) -> set[str]:
        """Return the labels."""
        return set(self.curves)

    def judge(self, curves: Curves) -> Finding:
        """Find the point where the curves differ most."""
        common, values = curves.together(self.curves, self.metric, self.start, self.end)
        spread = {}
        for x in common:
            here = [one[x] for one in values]
            high = max(map(abs, here))
            spread[x] = (max(here) - min(here)) / high if high else 0.0
        worst = max(common, key=lambda x: spread[x])
        ends = " and ".join(sorted({show(one[worst]) for one in values}))
        said = f"differ most at {worst}: {ends}, {100 * spread[worst]:.0f} %"
        return Finding(spread[worst] <= self.within, said)
