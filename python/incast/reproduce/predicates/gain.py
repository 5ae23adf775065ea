"""`gain`: the gain of one curve over another."""

from dataclasses import dataclass

from incast.errors import FigureError
from incast.reproduce.data import Curves, X
from incast.reproduce.metrics import Named
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import show


@dataclass(frozen=True)
class Gain:
    """Whether the gain of one curve over another is large enough, or is largest at a given point.

    The gain must be large enough at every point, unless `most_at` is given.

    Parameters
    ----------
    over, by
        The labels of the two curves; the gain is `by` minus `over`.
    least
        Number that every gain must exceed.
    most_at
        In place of `least`: the point whose gain must be the largest.
    relative
        Whether gains are in percent of `over`.
    metric
        The metric to compare; by default the drawn one.
    """

    over: str
    by: str
    least: float = 0.0
    most_at: str = ""
    relative: bool = False
    metric: Named | None = None

    def series(self) -> set[str]:
        """Return the labels."""
        return {self.over, self.by}

    def judge(self, curves: Curves) -> Finding:
        """Compare the points."""
        found = gains(curves, self.over, self.by, self.metric, relative=self.relative)
        unit = " %" if self.relative else ""
        said = ", ".join(f"{x} {show(gain)}{unit}" for x, gain in found.items())
        if not self.most_at:
            return Finding(all(gain > self.least for gain in found.values()), said)
        named = {str(x): gain for x, gain in found.items()}
        if self.most_at not in named:
            raise FigureError(f"most_at: there is no point {self.most_at}")
        return Finding(named[self.most_at] >= max(named.values()), said)


def gains(
    curves: Curves, over: str, by: str, metric: Named | None = None, *, relative: bool
) -> dict[X, float]:
    """Return the gain by point; a point with a value of 0 in `over` has no relative gain."""
    common, (low, high) = curves.together([over, by], metric, None, None)
    if not relative:
        return {x: high[x] - low[x] for x in common}
    return {x: 100 * (high[x] - low[x]) / low[x] for x in common if low[x]}
