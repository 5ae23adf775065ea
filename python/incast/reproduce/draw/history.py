"""One run per curve over time: columns of the trace of the busiest port."""

from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.figure import Plot
from incast.reproduce.runs import Work

_THERE: dict[str, Any] = {"linestyle": "-", "linewidth": 0.8}
_COUNTS = {"arrivals", "drops"}  # columns with a count per bin, drawn as cumulative sums


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw the first run of every curve, at the port with the longest queue.

    A thin line of the same colour is another simulator's run of the curve.
    """
    plot = work.figure.plot
    if plot is None:
        return None
    figure, (axes,) = shared.sheet(work, curves)
    handles: list[Line2D] = []
    data = []
    for label in curves.of:
        trace = _busiest(curves.traced(label)[0])
        there = _there(label, other)
        for column in (plot.y, *plot.beside):
            name = f"{label}: {shared.name(plot, column)}" if plot.beside else label
            looks = {**style.curve(len(handles)), "marker": "", "drawstyle": "steps-post"}
            lane = _lane(trace, column, plot)
            handles += axes.plot(lane["time_s"], lane["y"], label=name, **looks)
            data.append(_data("here", name, lane))
            if there is not None:
                lane = _lane(there, column, plot)
                axes.plot(lane["time_s"], lane["y"], **{**looks, **_THERE})
                data.append(_data("ns-2", name, lane))
    if any(_there(label, other) is not None for label in curves.of):
        handles += axes.plot([], [], color="0.3", label="thin: measured with ns-2", **_THERE)
    shared.scales(axes, plot, plot.y)
    axes.set_xscale(plot.xscale)
    if plot.span is not None:
        axes.set_xlim(*plot.span)
    seed = next(iter(curves.of.values())).rows["seed"][0]
    axes.set_xlabel(f"time [s], seed {seed}")
    style.legend(figure, handles)
    return Picture(figure, pl.concat(data))


def _there(label: str, other: Curves | None) -> pl.DataFrame | None:
    """Return another simulator's trace of a curve, or None without a trace."""
    if other is None or label not in other.of or other.of[label].traces is None:
        return None
    return other.traced(label)[0]


def _lane(trace: pl.DataFrame, column: str, plot: Plot) -> pl.DataFrame:
    y = pl.col(column).cum_sum() if column in _COUNTS else pl.col(column)
    return trace.select("time_s", (y * plot.scale).alias("y"))


def _data(source: str, name: str, lane: pl.DataFrame) -> pl.DataFrame:
    said = (pl.lit(source).alias("source"), pl.lit(name).alias("series"))
    return lane.select(*said, "time_s", "y")


def _busiest(trace: pl.DataFrame) -> pl.DataFrame:
    most = trace.group_by("port").agg(pl.col("packets_max").max()).sort("packets_max", "port")
    return trace.filter(pl.col("port") == most["port"][-1]).sort("time_s")
