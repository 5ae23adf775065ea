"""The gain of the second curve over the first at few points, as bars."""

from typing import Any

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.draw.sweep import table
from incast.reproduce.predicates.gain import gains
from incast.reproduce.runs import Work


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw a bar per point, and a hollow mark for the gain of another simulator's curves."""
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
    label = f"{second} over {first}"
    data = [("here", label, x, y, None) for x, y in found.items()]
    if other is not None and other.has(first) and other.has(second):
        there = gains(other, first, second, relative=plot.relative)
        look: dict[str, Any] = {"marker": "o", "linestyle": "", "markerfacecolor": "none"}
        at = [work.xs.index(x) for x in there]
        name = "hollow: measured with ns-2"
        handles = axes.plot(at, list(there.values()), color="0.15", label=name, **look)
        style.legend(figure, handles)
        data += [("ns-2", label, x, y, None) for x, y in there.items()]
    axes.axhline(0, color="0.15", lw=0.8)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(plot.label or f"gain in {curves.metric.label}")
    return Picture(figure, table(data))
