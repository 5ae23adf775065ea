"""One run over time: columns of its trace, for the flows or ports that vary most."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from incast.plots import Picture, style
from incast.reproduce import late
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.figure import Plot
from incast.reproduce.runs import Work
from incast.results.traces import KINDS

_MARGIN = 0.02  # share of the shown time span, added before and after it


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw columns of the trace, a line per flow or port.

    Return None if no run meets the conditions of the search.
    """
    del other
    plot = work.figure.plot
    if plot is None or not curves.of:
        return None
    label = next(iter(curves.of))
    trace = curves.traced(label)[0]
    if work.figure.search is not None and work.figure.search.late is not None:
        return _apart(work, curves, plot, trace)
    if plot.span is not None:
        trace = trace.filter(pl.col("time_s").is_between(plot.span[0], plot.span[1]))
    by = "flow" if "flow" in trace.columns else "port"
    chosen = sorted(_varied(trace, by, plot)[: plot.lines])
    figure, (axes,) = shared.sheet(work, curves)
    handles: list[Line2D] = []
    for one in chosen:
        lane = trace.filter(pl.col(by) == one).sort("time_s")
        for column in [plot.y, *plot.beside]:
            name = shared.name(plot, column) if plot.beside else f"{by} {one}"
            if plot.beside and len(chosen) > 1:
                name = f"{by} {one}, {name}"
            handles += _line(axes, lane, column, plot, name, len(handles))
        if plot.marks:
            handles += _marks(axes, lane, plot)
    shared.scales(axes, plot, plot.y)
    axes.set_xlabel(_time(curves, label))
    style.legend(figure, handles)
    return Picture(figure, _data(trace, by, chosen, plot))


def _apart(work: Work, curves: Curves, plot: Plot, trace: pl.DataFrame) -> Picture | None:
    """Draw the blocks that the search found: a panel per sender, block ends and idle times."""
    label, curve = next(iter(curves.of.items()))
    search = work.figure.search
    if search is None or search.late is None or curve.traces is None:
        return None
    (events,) = curve.traces(KINDS["events"].table)
    found = late.find(events, search.late)
    if found is None:
        return None
    margin = _MARGIN * (found.end_s - found.start_s)
    start, end = found.start_s - margin, found.end_s + margin
    trace = trace.filter(pl.col("time_s").is_between(start, end))
    others = [flow for flow in _varied(trace, "flow", plot) if flow not in found.flows]
    chosen = sorted([*found.flows, *others][: plot.lines])
    size = (6.4, 1.5 + 1.15 * len(chosen))
    figure, panels = shared.sheet(
        work, curves, panels=len(chosen), size=size, sharex=True, sharey=True
    )
    for axes, flow in zip(panels, chosen, strict=True):
        for low, high in late.idle(events):
            axes.axvspan(low, high, color=style.IDLE, lw=0, zorder=0)
        for done in late.block_ends(events):
            axes.axvline(done, color=style.GUIDE, linestyle=":", lw=1.1)
        lane = trace.filter(pl.col("flow") == flow).sort("time_s")
        name = f"sender {flow + 1}"
        _line(axes, lane, plot.y, plot, name, 0)
        axes.text(0.985, 0.95, name, transform=axes.transAxes, ha="right", va="top")
        axes.set_xlim(start, end)
    panels[0].set_ylim(bottom=0)  # for all panels, because they share the axis
    panels[len(panels) // 2].set_ylabel(plot.label or plot.y)
    panels[-1].set_xlabel(_time(curves, label))
    told = [
        Line2D([], [], color=style.GUIDE, linestyle=":", label="a block is done"),
        Patch(facecolor=style.IDLE, label="the link idles"),
    ]
    style.legend(figure, told)
    return Picture(figure, _data(trace, "flow", chosen, plot))


def _varied(trace: pl.DataFrame, by: str, plot: Plot) -> list[Any]:
    """Return the flows or ports, the largest variation of the first column first."""
    spread = trace.group_by(by).agg(pl.col(plot.y).std().alias("s"))
    return spread.sort("s", by, descending=[True, False])[by].to_list()


def _data(trace: pl.DataFrame, by: str, chosen: list[Any], plot: Plot) -> pl.DataFrame:
    """Return the drawn numbers, with a row only where a number changes."""
    columns = dict.fromkeys([plot.y, *plot.beside, *([plot.marks] if plot.marks else [])])
    lanes = trace.filter(pl.col(by).is_in(chosen)).sort(by, "time_s").select("time_s", by, *columns)
    moved = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(1)) for name in (by, *columns)
    )
    return lanes.filter(moved)


def _time(curves: Curves, label: str) -> str:
    return f"time [s], seed {curves.of[label].rows['seed'][0]}"


def _line(
    axes: Axes, lane: pl.DataFrame, column: str, plot: Plot, name: str, index: int
) -> list[Line2D]:
    looks: dict[str, Any] = {**style.curve(index), "marker": "", "drawstyle": "steps-post"}
    return axes.plot(lane["time_s"], lane[column] * plot.scale, label=name, **looks)


def _marks(axes: Axes, lane: pl.DataFrame, plot: Plot) -> list[Line2D]:
    """Mark the increases of the counter on the line of the first column."""
    grows = lane.filter(pl.col(plot.marks) > pl.col(plot.marks).shift(1, fill_value=0))
    looks: dict[str, Any] = {"linestyle": "", "marker": "o", "color": "black", "markersize": 4.5}
    looks["markerfacecolor"] = "white"
    label = shared.name(plot, plot.marks)
    return axes.plot(grows["time_s"], grows[plot.y] * plot.scale, label=label, **looks)
