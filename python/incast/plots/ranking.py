"""Every curve as a row of shades, which show how long the curve keeps its goodput."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from incast import units
from incast.plots import Moment, Picture, choice, facts, style
from incast.plots.goodput import scale
from incast.plots.heatmap import in_order
from incast.results import Results
from incast.results.series import Series, split, written

_ROW = 0.29  # inches
_COLUMN = 0.72
_LETTERS = 26  # maximum per value below the picture; the name of a curve may have twice as many
_WHITE_FROM = 0.55  # cells with at least this share are dark


def draw(results: Results, moment: Moment) -> Picture:
    """Draw goodput as shade and number, with the most robust curve on top."""
    summary = choice.points(results, moment)
    share = [
        (goodput or 0.0) / results.resolved(point).capacity
        for point, goodput in summary.select("point", "goodput_bps").iter_rows()
    ]
    bad = choice.collapsed(results, summary, moment)
    summary = summary.with_columns(
        pl.Series("goodput_share", share, pl.Float64), pl.Series("bad", bad, pl.Boolean)
    )
    axis, series = split(summary, results.plan.swept)
    columns = in_order(summary[axis]) if axis else [""]
    place = {value: at for at, value in enumerate(columns)}
    ranked = sorted(series, key=lambda one: _lasts(one, axis, place), reverse=True)

    height = max(3.3, 1.5 + _ROW * len(ranked))
    figure, (axes,) = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        size=(max(6.4, 1.9 + _COLUMN * len(columns)), height),
    )
    unit, name = scale(max(summary["goodput_bps"].drop_nulls(), default=0.0))
    for row, one in enumerate(ranked):
        for point in one.points.to_dicts():
            column = place[point[axis]] if axis else 0
            _cell(axes, column, row, point, unit)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(ranked) - 0.5, -0.5)
    names = [style.shorten(written(value), _LETTERS) for value in columns]
    upright = max(map(len, names)) * len(names) > _COLUMN * len(columns) * 13
    axes.set_xticks(range(len(columns)), map(style.literal, names), rotation=90 if upright else 0)
    labels = [style.literal(style.shorten(one.label, 2 * _LETTERS)) for one in ranked]
    axes.set_yticks(range(len(ranked)), labels)
    axes.set_xlabel(style.name_of(axis))
    axes.set_title(
        f"goodput [{name}]; darker: nearer to the line rate;\nbold: collapsed",
        fontsize=8.5,
        color="0.3",
    )
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    order = pl.DataFrame(
        {
            "point": [point for one in ranked for point in one.points["point"]],
            "rank": [rank for rank, one in enumerate(ranked, 1) for _ in one.points["point"]],
        },
        schema={"point": summary["point"].dtype, "rank": pl.Int64},
    )
    data = order.join(summary, on="point", how="left", maintain_order="left")
    kept = ["goodput_bps", "goodput_share", "timeouts_per_block"]
    return Picture(figure, data.select("rank", *results.plan.swept, *kept))


def _lasts(one: Series, axis: str | None, place: dict[object, int]) -> tuple[int, float]:
    """Return the last column with half of the line rate or more, and the mean share of the rate."""
    good = one.points.filter(pl.col("goodput_share") >= 0.5)  # noqa: PLR2004 (half of the rate)
    last = max((place[value] for value in good[axis]), default=-1) if axis else 0
    return last, float(one.points["goodput_share"].mean() or 0.0)  # type: ignore[arg-type]


def _cell(axes: Axes, column: int, row: int, point: dict[str, Any], unit: float) -> None:
    """Draw one point: a shade of grey, and its number."""
    share, goodput = min(point["goodput_share"], 1.0), point["goodput_bps"]
    box = (column - 0.49, row - 0.47)
    # Grey, so that every printer and every eye sees the shades in the same order.
    shade = str(1 - 0.72 * share)
    axes.add_patch(Rectangle(box, 0.98, 0.94, facecolor=shade, edgecolor="0.75", linewidth=0.5))
    axes.annotate(
        "–" if goodput is None else units.number(goodput / unit, 3),
        (column, row),
        ha="center",
        va="center",
        fontsize=8.5,
        fontweight="bold" if point["bad"] else "normal",
        color="white" if share >= _WHITE_FROM else "black",
    )
