"""`below-average`: a curve that lies below the mean of several curves."""

from dataclasses import dataclass, field

from incast.reproduce.data import Curves
from incast.reproduce.metrics import Named
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import show


@dataclass(frozen=True)
class BelowAverage:
    """Whether a curve lies below the mean of several curves, at every point.

    Parameters
    ----------
    curve
        Label of the curve.
    among
        Labels of the curves that are averaged; `curve` may be among them.
    metric
        The metric to compare; by default the drawn one.
    start, end
        The first and the last point that count (`from` and `to` in a figure).
    tolerance
        How far the curve may lie above the mean, as a share of the mean.
    """

    curve: str
    among: list[str]
    metric: Named | None = None
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})
    tolerance: float = 0.0

    def series(self) -> set[str]:
        """Return the labels."""
        return {self.curve, *self.among}

    def judge(self, curves: Curves) -> Finding:
        """Compare point by point."""
        labels = [self.curve, *self.among]
        common, (own, *others) = curves.together(labels, self.metric, self.start, self.end)
        means = {x: sum(one[x] for one in others) / len(others) for x in common}
        above = [x for x in common if own[x] >= means[x] + self.tolerance * abs(means[x])]
        said = ", ".join(f"{x}: {show(own[x])} and {show(means[x])}" for x in common)
        return Finding(not above, f"it and the mean at {said}")
