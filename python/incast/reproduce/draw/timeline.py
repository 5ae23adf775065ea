"""One run over time: a column of its trace, the flows or ports in which it varies most."""

import polars as pl

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.runs import Work


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw a column of the trace, a line per flow or port; nothing if no run fits the search."""
    del other
    plot = work.figure.plot
    if plot is None or not curves.of:
        return None
    label = next(iter(curves.of))
    trace = curves.traced(label)[0]
    if plot.span is not None:
        trace = trace.filter(pl.col("time_s").is_between(plot.span[0], plot.span[1]))
    by = "flow" if "flow" in trace.columns else "port"
    chosen = (
        trace.group_by(by)
        .agg(pl.col(plot.y).std().alias("s"))
        .sort("s", by, descending=[True, False])
    )
    figure, axes = shared.sheet(work, curves)
    seed = curves.of[label].rows["seed"][0]
    handles = []
    for index, one in enumerate(sorted(chosen[by][: plot.lines])):
        lane = trace.filter(pl.col(by) == one).sort("time_s")
        looks = {**style.curve(index), "marker": "", "drawstyle": "steps-post"}
        handles += axes.plot(
            lane["time_s"], lane[plot.y] * plot.scale, label=f"{by} {one}", **looks
        )
    shared.scales(axes, plot, plot.y)
    axes.set_xlabel(f"time [s], seed {seed}")
    style.legend(figure, handles)
    return Picture(figure, trace.filter(pl.col(by).is_in(chosen[by][: plot.lines].implode())))
