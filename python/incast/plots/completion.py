"""Completion time of a block: what the application waits for."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from incast import units
from incast.plots import Moment, Picture, facts, style
from incast.results import Results
from incast.results.series import split

_MILLI = 1e3


def draw(results: Results, moment: Moment) -> Picture:
    """Draw median with confidence band and 99th percentile, the ideal time and the least RTO."""
    del moment
    summary = results.summary()
    axis, series = split(summary, results.plan.swept)
    figure, (axes,) = style.sheet(
        facts.title(results), facts.of_sweep(results), size=style.size(len(series))
    )
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    everywhere = style.positions(axes, axis, summary[axis].to_list() if axis else [""])
    where = dict(zip(summary["point"], everywhere, strict=True))
    for index, one in enumerate(series):
        x = [where[point] for point in one.points["point"]]
        median = one.points["completion_p50_s"] * _MILLI
        half = one.points["completion_p50_s_ci95"].fill_null(0) * _MILLI
        low = (median - half).clip(lower_bound=median / 100)  # a logarithm needs more than 0
        looks = style.curve(index)
        axes.fill_between(x, low, median + half, color=looks["color"], alpha=0.2, lw=0)
        axes.plot(x, median, label=one.label, **looks)
        late = {**looks, "markerfacecolor": "white", "markeredgecolor": looks["color"]}
        late |= {"linewidth": 1.0, "markersize": 4, "alpha": 0.9}
        axes.plot(x, one.points["completion_p99_s"] * _MILLI, **late)
    ideal = [results.resolved(point).ideal * _MILLI for point in series[0].points["point"]]
    x = [where[point] for point in series[0].points["point"]]
    axes.plot(x, ideal, color=style.GUIDE, linewidth=1.1, linestyle=(0, (1, 1.5)), zorder=1.5)
    least = {results.resolved(point).rto_min for point in summary["point"]}
    for rto in least if len(least) == 1 else ():
        style.guide(axes, rto * _MILLI, f"RTO min {units.time(rto)}", left=True)
    axes.set_ylabel("completion time of a block [ms]")
    _legend(figure, axes, len(series))
    columns = ["completion_p50_s", "completion_p50_s_ci95", "completion_p99_s"]
    return Picture(figure, summary.select(*results.plan.swept, *map(pl.col, columns)))


def _legend(figure: Figure, axes: Axes, curves: int) -> None:
    """Explain the line styles; name the curves where there are several."""
    handles: list[Artist] = [
        Line2D([], [], color="0.2", marker="o", label="median, 95 % CI"),
        Line2D([], [], color="0.2", marker="o", mfc="white", lw=1.0, label="99th percentile"),
        Line2D([], [], color=style.GUIDE, linestyle=(0, (1, 1.5)), label="at line rate"),
    ]
    if curves > 1:
        handles = [*axes.get_legend_handles_labels()[0], *handles]
    style.legend(figure, handles)
