"""Timeouts per block, stacked by cause: why it collapses."""

import polars as pl

from incast import units
from incast.plots import Moment, Picture, facts, style
from incast.results import Results
from incast.results.causes import CAUSES
from incast.results.series import split

_COLUMNS = 3  # panels side by side
_MOST_LABELS = 14  # bars in one panel that still have room for their totals


def draw(results: Results, moment: Moment) -> Picture:
    """Draw one panel of bars per curve of the sweep."""
    del moment
    summary = results.summary().with_columns(
        (pl.col(name) / pl.col("blocks")).alias(name) for name in CAUSES
    )
    axis, series = split(summary, results.plan.swept)
    columns = min(len(series), _COLUMNS)
    rows = -(-len(series) // columns)
    figure, panels = style.sheet(
        facts.title(results),
        facts.of_sweep(results),
        nrows=rows,
        ncols=columns,
        sharey=True,
        size=(max(6.4, 3.4 * columns), 4.0 if rows == 1 else 2.9 * rows),
    )
    for spare in panels[len(series) :]:
        spare.set_visible(False)
    for index, (axes, one) in enumerate(zip(panels, series, strict=False)):
        values = [str(value) for value in one.points[axis]] if axis else [""]
        style.positions(axes, axis, values)
        axes.grid(visible=False, axis="x")
        base = pl.zeros(len(values), eager=True)
        for name, (colour, hatch) in style.CAUSE_LOOKS.items():
            height = one.points[name].fill_null(0)
            there = (height > 0).arg_true()  # a bar of height 0 would still show its edge
            axes.bar(
                there,
                height[there],
                0.72,
                bottom=base[there],
                color=colour,
                hatch=hatch,
                edgecolor="0.15",
                linewidth=0.4,
            )
            base += height
        axes.set_xlim(-0.6, len(values) - 0.4)
        if len(values) <= _MOST_LABELS:
            for x, total in enumerate(base):
                axes.annotate(
                    units.number(total, 2), (x, total), (0, 2), textcoords="offset points",
                    ha="center", fontsize=8.5, color="0.2",
                )  # fmt: skip
        if one.label:
            axes.set_title(one.label, loc="right", fontsize=9)
        if index % columns == 0:
            axes.set_ylabel("timeouts per block")
    panels[0].set_ylim(0, max(panels[0].get_ylim()[1] * 1.04, 0.1))
    style.legend(figure, [style.cause(name) for name in CAUSES if (summary[name].sum() or 0) > 0])
    return Picture(figure, summary.select(*results.plan.swept, "timeouts_per_block", *CAUSES))
