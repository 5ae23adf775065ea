"""A run per curve over time: columns of the trace of its busiest port."""

import polars as pl
from matplotlib.lines import Line2D

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.runs import Work

_COUNTS = {"drops"}  # columns that count within a bin: drawn as their sum so far


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw the first run of every curve; of several ports, the one where most ever waited."""
    del other
    plot = work.figure.plot
    if plot is None:
        return None
    figure, (axes,) = shared.sheet(work, curves)
    handles: list[Line2D] = []
    data = []
    for label in curves.of:
        trace = _busiest(curves.traced(label)[0])
        for column in (plot.y, *plot.beside):
            y = pl.col(column).cum_sum() if column in _COUNTS else pl.col(column)
            lane = trace.select("time_s", (y * plot.scale).alias("y"))
            name = f"{label}: {shared.name(plot, column)}" if plot.beside else label
            looks = {**style.curve(len(handles)), "marker": "", "drawstyle": "steps-post"}
            handles += axes.plot(lane["time_s"], lane["y"], label=name, **looks)
            data.append(lane.select(pl.lit(name).alias("series"), "time_s", "y"))
    shared.scales(axes, plot, plot.y)
    axes.set_xscale(plot.xscale)
    if plot.span is not None:
        axes.set_xlim(*plot.span)
    seed = next(iter(curves.of.values())).rows["seed"][0]
    axes.set_xlabel(f"time [s], seed {seed}")
    style.legend(figure, handles)
    return Picture(figure, pl.concat(data))


def _busiest(trace: pl.DataFrame) -> pl.DataFrame:
    most = trace.group_by("port").agg(pl.col("packets_max").max()).sort("packets_max", "port")
    return trace.filter(pl.col("port") == most["port"][-1]).sort("time_s")
