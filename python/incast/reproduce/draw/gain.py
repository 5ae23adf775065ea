"""What the second curve gains over the first, at few points: bars."""

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.draw.sweep import table
from incast.reproduce.predicates.gain import gains
from incast.reproduce.runs import Work


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw a bar per point."""
    del other
    plot = work.figure.plot
    if plot is None or curves.metric is None:
        return None
    figure, (axes,) = shared.sheet(work, curves)
    first, second = list(curves.of)[:2]
    found = gains(curves, first, second, relative=plot.relative)
    shared.positions(axes, work)
    axes.set_xticks(range(len(work.xs)), [str(x) for x in work.xs])
    left = [work.xs.index(x) for x in found]
    axes.bar(left, list(found.values()), 0.6, color=style.COLOURS[0], edgecolor="0.15")
    axes.axhline(0, color="0.15", lw=0.8)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(plot.label or f"gain in {curves.metric.label}")
    label = f"{second} over {first}"
    return Picture(figure, table([("here", label, x, y, None) for x, y in found.items()]))
