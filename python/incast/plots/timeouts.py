"""Timeouts: their number and their causes."""

from collections.abc import Sequence
from math import floor, log10

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from incast import units
from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, curves, facts, style
from incast.results import Results
from incast.results.causes import CAUSES
from incast.results.series import Series, split, written

_COLUMNS = 4  # maximum number of panels with shares side by side
_SEEN = 0.01  # share of a bar; a smaller share is not visible
_LETTERS = 13  # letters per inch in the labels under an axis
_PANELS = 16  # largest number of panels with shares


def draw(results: Results, moment: Moment) -> Picture:
    """Draw the timeouts of all curves on a logarithmic axis, and the shares of causes below."""
    summary = choice.points(results, moment)
    if summary["timeouts"].is_null().all():
        raise ResultsError(f"timeouts: the group {moment.group!r} has no connections that wait")
    per_block = summary["timeouts_per_block"].is_not_null().any()
    counted = "timeouts_per_block" if per_block else "timeouts"
    axis, series = split(summary, results.plan.swept)
    shown = series[:_PANELS]
    columns = min(len(shown), _COLUMNS)
    rows = -(-len(shown) // columns)
    cells = [f"share {index}" if index < len(shown) else "." for index in range(rows * columns)]
    shares = [cells[row * columns : (row + 1) * columns] for row in range(rows)]
    width = max(6.4, 2.6 * columns)
    figure, (axes, *panels) = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        size=(width, 4.0 + 1.5 * rows),
        mosaic=[["counts"] * columns, *shares],
        height_ratios=[2.2] + [1] * rows,
    )
    _counts(axes, summary, counted, axis, series)
    seen: set[str] = set()
    for index, (panel, one) in enumerate(zip(panels, shown, strict=True)):
        seen |= _shares(panel, one, axis, width / columns)
        panel.set_title(one.label, loc="right", fontsize=8.5)
        if index % columns == 0:
            panel.set_ylabel("causes [%]")
        else:
            panel.set_yticklabels([])
        if index + columns < len(shown):
            panel.set_xticklabels([])
            panel.set_xlabel("")
    _legend(figure, axes, summary, seen)
    left_out = len(series) - len(shown)
    if left_out:
        more = units.plural(left_out, "more curve")
        panels[-1].set_xlabel(f"{panels[-1].get_xlabel()} (causes of {more} not shown)")
    return Picture(figure, summary.select(*results.plan.swept, counted, *CAUSES))


def _counts(
    axes: Axes, summary: pl.DataFrame, counted: str, axis: str | None, series: Sequence[Series]
) -> None:
    """Draw the number of timeouts, so that a few are as visible as thousands."""
    few = summary[counted].filter(summary[counted] > 0).min()
    if few is None:
        axes.set_ylim(0, 1)
        axes.text(0.5, 0.5, "no timeout", ha="center", color="0.3", transform=axes.transAxes)
    else:
        decade = 10.0 ** floor(log10(float(few)))  # type: ignore[arg-type]
        axes.set_yscale("symlog", linthresh=decade, linscale=0.5)
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    where = curves.places(axes, axis, summary)
    for index, one in enumerate(series):
        curves.draw(
            axes, one, counted,
            axis=axis, where=where, looks=style.curve(index), label=one.label, band=False,
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    curves.unfinished(axes, series, where)
    axes.set_ylabel("timeouts per block" if counted.endswith("_per_block") else "timeouts per run")


def _shares(axes: Axes, one: Series, axis: str | None, width: float) -> set[str]:
    """Draw a bar per point with the share of every cause; return the visible causes."""
    values = [written(value) for value in one.points[axis]] if axis else [""]
    total = one.points.select(pl.sum_horizontal(*CAUSES)).to_series()
    base = pl.zeros(len(values), eager=True)
    seen = set()
    for name, (colour, hatch) in style.CAUSE_LOOKS.items():
        share = (one.points[name] / total).fill_nan(None).fill_null(0)
        there = (share > 0).arg_true()  # a bar of height 0 would still show its edge
        axes.bar(
            there, 100 * share[there], 0.78,
            bottom=base[there], color=colour, hatch=hatch, edgecolor="0.15", linewidth=0.4,
        )  # fmt: skip
        base += 100 * share
        if len(there) and share.max() >= _SEEN:  # type: ignore[operator]
            seen.add(name)
    for place in (base == 0).arg_true():
        told = "?" if one.points["timeouts"][place] else "0"  # the causes are not known
        axes.text(place, 8, told, ha="center", fontsize=8, color="0.35")
    step = -(-max(len(value) + 1 for value in values) * len(values) // int(width * _LETTERS))
    upright = isinstance(one.points[axis][0], str) and step > 1 if axis else False
    step = 1 if upright else step
    axes.set_xticks(range(0, len(values), step), [style.literal(it) for it in values[::step]])
    axes.tick_params(axis="x", labelrotation=90 if upright else 0, labelsize=8)
    axes.set_xlabel(style.name_of(axis), fontsize=8.5)
    axes.set_xlim(-0.6, len(values) - 0.4)
    axes.set_ylim(0, 100)
    axes.grid(visible=False, axis="x")
    return seen


def _legend(figure: Figure, axes: Axes, summary: pl.DataFrame, seen: set[str]) -> None:
    """Draw the legend: curves, visible causes, and one entry for causes too rare to be visible."""
    handles, labels = axes.get_legend_handles_labels()
    handles = [handle for handle, label in zip(handles, labels, strict=True) if label]
    handles += [style.cause(name) for name in CAUSES if name in seen]
    rare = [CAUSES[name] for name in CAUSES if (summary[name].sum() or 0) > 0 and name not in seen]
    if rare:
        handles.append(Patch(facecolor="none", label=f"below 1 % everywhere: {', '.join(rare)}"))
    style.legend(figure, handles)
