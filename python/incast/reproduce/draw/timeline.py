"""One run over time: columns of its trace, the flows or ports in which the first varies most."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.figure import Plot
from incast.reproduce.runs import Work


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw columns of the trace, a line per flow or port; nothing if no run fits the search."""
    del other
    plot = work.figure.plot
    if plot is None or not curves.of:
        return None
    label = next(iter(curves.of))
    trace = curves.traced(label)[0]
    if plot.span is not None:
        trace = trace.filter(pl.col("time_s").is_between(plot.span[0], plot.span[1]))
    by = "flow" if "flow" in trace.columns else "port"
    varied = (
        trace.group_by(by)
        .agg(pl.col(plot.y).std().alias("s"))
        .sort("s", by, descending=[True, False])
    )
    chosen = sorted(varied[by][: plot.lines])
    figure, axes = shared.sheet(work, curves)
    seed = curves.of[label].rows["seed"][0]
    handles: list[Line2D] = []
    for one in chosen:
        lane = trace.filter(pl.col(by) == one).sort("time_s")
        for column in [plot.y, *plot.beside]:
            name = column if plot.beside else f"{by} {one}"
            if plot.beside and len(chosen) > 1:
                name = f"{by} {one}, {column}"
            handles += _line(axes, lane, column, plot, name, len(handles))
        if plot.marks:
            handles += _marks(axes, lane, plot, len(handles))
    shared.scales(axes, plot, plot.y)
    axes.set_xlabel(f"time [s], seed {seed}")
    style.legend(figure, handles)
    return Picture(figure, trace.filter(pl.col(by).is_in(chosen)))


def _line(
    axes: Axes, lane: pl.DataFrame, column: str, plot: Plot, name: str, index: int
) -> list[Line2D]:
    looks: dict[str, Any] = {**style.curve(index), "marker": "", "drawstyle": "steps-post"}
    return axes.plot(lane["time_s"], lane[column] * plot.scale, label=name, **looks)


def _marks(axes: Axes, lane: pl.DataFrame, plot: Plot, index: int) -> list[Line2D]:
    """Mark where the counting column grows, on the first column's line."""
    grows = lane.filter(pl.col(plot.marks) > pl.col(plot.marks).shift(1, fill_value=0))
    looks: dict[str, Any] = {**style.curve(index), "linestyle": "", "markersize": 4}
    label = f"{plot.marks} grows"
    return axes.plot(grows["time_s"], grows[plot.y] * plot.scale, label=label, **looks)
