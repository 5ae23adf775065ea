"""Completion time of a block: the wait of the application."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from incast import units
from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, curves, facts, style
from incast.results import Results
from incast.results.intervals import HIGH, LOW
from incast.results.series import Series, split

_MILLI = 1e-3
_MEDIAN, _LATE = "completion_p50_s", "completion_p99_s"
_DECADES = 100.0  # an axis that spans a smaller factor has labels between its decades
_DOTTED = (0, (1, 1.5))


def draw(results: Results, moment: Moment) -> Picture:
    """Draw median and 99th percentile, the ideal time and the minimum RTO.

    A single curve has the median and the percentile in one panel. With several curves, the median
    has one panel, and the percentile has another.
    """
    summary = choice.points(results, moment)
    if summary[_MEDIAN].is_null().all():
        raise ResultsError(f"completion: {_whose(moment)} no block or flow that finishes")
    axis, series = split(summary, results.plan.swept)
    several = len(series) > 1
    width, height = style.size(len(series))
    figure, panels = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        nrows=1,
        ncols=2 if several else 1,
        size=(9.4 if several else width, height),
        sharey=True,
    )
    names = {_MEDIAN: panels[0], _LATE: panels[-1]}
    for axes in panels:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        where = curves.places(axes, axis, summary)
    alone = summary.height == 1
    for column, axes in names.items():
        for index, one in enumerate(series):
            looks = style.curve(index)
            if not several and column == _LATE:
                looks |= {"markerfacecolor": "white", "markeredgecolor": looks["color"]}
                looks |= {"linewidth": 1.0}
            place = dict.fromkeys(where, 1.0) if alone and column == _LATE else where
            curves.draw(
                axes, _positive(one, column), column,
                axis=axis, where=place, unit=_MILLI, looks=looks, label=one.label,
            )  # fmt: skip
    for axes in panels:
        ideal = _guides(axes, results, summary, series[0], moment, where)
    what = "block" if moment.group == "all" else "flow"
    panels[0].set_ylabel(f"completion time of a {what} [ms]")
    if alone:
        _of_one_point(axes, summary)
    if several:
        panels[0].set_title("median", fontsize=9.5)
        panels[1].set_title("99th percentile", fontsize=9.5)
    _decades(panels[0])
    known = summary[f"{_LATE}{LOW}"].is_not_null().any()
    _legend(figure, panels[0], several=several, ideal=ideal, known=bool(known))
    columns = [f"{name}{end}" for name in (_MEDIAN, _LATE) for end in ("", LOW, HIGH)]
    return Picture(figure, summary.select(*results.plan.swept, *map(pl.col, columns)))


def _of_one_point(axes: Axes, summary: pl.DataFrame) -> None:
    """Put median and 99th percentile of a single point side by side, with their values."""
    axes.set_xticks([0, 1], ["median", "99th percentile"])
    axes.set_xlim(-0.6, 1.6)
    for place, column in enumerate((_MEDIAN, _LATE)):
        value = summary[column][0]
        if value is not None:
            axes.annotate(
                units.time(value), (place, value / _MILLI), (9, 0), va="center",
                textcoords="offset points",
            )  # fmt: skip


def _whose(moment: Moment) -> str:
    return "the workload has" if moment.group == "all" else f"the group {moment.group!r} has"


def _positive(one: Series, column: str) -> Series:
    """Leave out times of zero, which a logarithmic axis cannot show."""
    kept = pl.when(pl.col(column) > 0).then(pl.col(column)).alias(column)
    return Series(one.label, one.points.with_columns(kept))


def _guides(
    axes: Axes,
    results: Results,
    summary: pl.DataFrame,
    first: Series,
    moment: Moment,
    where: dict[int, float],
) -> bool:
    """Draw the time at line rate, and the minimum RTO if it is the same at all points.

    Only a read has a time at line rate. Return whether it was drawn.
    """
    if moment.group != "all":
        return False
    reads = first.points.filter([results.resolved(point).reads for point in first.points["point"]])
    ideal = [results.resolved(point).ideal / _MILLI for point in reads["point"]]
    x = [where[point] for point in reads["point"]]
    if len(x) == 1:
        # A single value does not define the range of the axis.
        axes.set_ylim(ideal[0] / 2, ideal[0] * 2, auto=None)
        axes.axhline(ideal[0], color=style.GUIDE, linewidth=1.1, linestyle=_DOTTED, zorder=1.5)
    axes.plot(x, ideal, color=style.GUIDE, linewidth=1.1, linestyle=_DOTTED, zorder=1.5)
    least = {results.resolved(point).rto_min for point in summary["point"]}
    for rto in least if len(least) == 1 else ():
        style.guide(axes, rto / _MILLI, f"RTO min {units.time(rto)}", left=True)
    return bool(ideal)


def _decades(axes: Axes) -> None:
    """Show at least a decade, because in a smaller range, noise would look like a trend."""
    low, high = axes.get_ylim()
    if high < 10 * low:
        middle = (low * high) ** 0.5
        axes.set_ylim(middle / 10**0.5, middle * 10**0.5)
    low, high = axes.get_ylim()
    if high < _DECADES * low:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure, axes: Axes, *, several: bool, ideal: bool, known: bool) -> None:
    """Explain the line styles; name the curves if there are several."""
    handles: list[Artist] = []
    if several:
        handles = list(axes.get_legend_handles_labels()[0])
    else:
        handles += [
            Line2D([], [], color=style.COLOURS[0], marker="o", label="median, 95 % CI"),
            Line2D([], [], color=style.COLOURS[0], marker="o", mfc="white", lw=1.0,
                   label="99th percentile" + (", 95 % CI" if known else " (too few for a CI)")),
        ]  # fmt: skip
    if ideal:
        handles.append(Line2D([], [], color=style.GUIDE, linestyle=_DOTTED, label="at line rate"))
    style.legend(figure, handles)
