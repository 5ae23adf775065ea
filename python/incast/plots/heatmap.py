"""Goodput over two swept keys: shades and numbers, and the border of the collapse."""

import re
from typing import Any

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from incast import units
from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, facts, style
from incast.plots.goodput import scale
from incast.results import Results
from incast.results.series import axis_of, label_of, written

_PANELS = 9  # maximum number: one panel for each combination of the other keys
_COLUMNS = 3  # maximum number of panels side by side
_CELL = (0.62, 0.34)  # inches: the size of a cell, if all cells fit on the page
_WIDEST = 9.5  # inches: the maximum width of the cells in a row of panels
_LEAST = 0.36  # inches that a number needs
_WHITE_FROM = 0.55  # cells with at least this share are dark
_CONTOUR = "#A01818"  # dark enough to be seen if printed in grey
_FACTORS = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9,
            "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}  # fmt: skip


def draw(results: Results, moment: Moment) -> Picture:
    """Draw a panel of cells for each combination of the other keys."""
    summary = choice.points(results, moment)
    across, up = _axes(summary.select(results.plan.swept), moment)
    share = [
        None if goodput is None else min(goodput / results.resolved(point).capacity, 1.0)
        for point, goodput in summary.select("point", "goodput_bps").iter_rows()
    ]
    summary = summary.with_columns(
        pl.Series("goodput_share", share, pl.Float64),
        pl.Series("collapsed", choice.collapsed(results, summary, moment), pl.Boolean),
    )
    others = [
        key for key in results.plan.swept
        if key not in (across, up) and _varies(summary, key, across, up)
    ]  # fmt: skip
    panels = _panels(summary, others)
    xs, ys = in_order(summary[across]), in_order(summary[up])
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    wide = min(_CELL[0] * len(xs), _WIDEST / columns)
    figure, drawn = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        nrows=rows,
        ncols=columns,
        size=(max(6.4, 1.4 + columns * (wide + 0.3)), 1.9 + rows * (_CELL[1] * len(ys) + 0.5)),
        sharex=True,
        sharey=True,
    )
    for spare in drawn[len(panels) :]:
        spare.set_visible(False)
    most = max(summary["goodput_bps"].drop_nulls(), default=0.0)
    unit, name = scale(most)
    numbered = wide / len(xs) >= _LEAST
    for index, (axes, (label, points)) in enumerate(zip(drawn, panels, strict=False)):
        cells = {(row[across], row[up]): row for row in points.to_dicts()}
        for (x, y), row in cells.items():
            _cell(axes, xs.index(x), ys.index(y), row, unit if numbered else None)
        _contour(axes, cells, xs, ys)
        _frame(axes, xs, ys, wide)
        axes.set_title(label, fontsize=8.5, loc="left")
        axes.set_xlabel(style.name_of(across) if index + columns >= len(panels) else "")
        axes.set_ylabel(style.name_of(up) if index % columns == 0 else "")
        axes.tick_params(labelbottom=index + columns >= len(panels))
    numbers = f"number: goodput in {name}; " if numbered else ""
    style.legend(
        figure,
        [
            Patch(facecolor="0.5", label=f"{numbers}dark: near the capacity of the links"),
            *_said(summary["collapsed"].drop_nulls()),
        ],
    )
    kept = ["goodput_bps", "goodput_share", "collapsed", "timeouts_per_block", "runs", "ok"]
    return Picture(figure, summary.select(*results.plan.swept, *kept))


def _axes(swept: pl.DataFrame, moment: Moment) -> tuple[str, str]:
    """Return the keys of both axes: the requested keys, or the servers and the first other key."""
    varying = [key for key in swept.columns if swept[key].n_unique() > 1]
    for option, key in (("across", moment.across), ("up", moment.up)):
        if key is not None and key not in swept.columns:
            raise ResultsError(
                f"{option}: {key!r} is not swept; swept: {', '.join(swept.columns) or 'nothing'}"
            )
    free = [key for key in varying if key not in (moment.across, moment.up)]
    across = moment.across or axis_of(swept.select(free)) if free else moment.across
    up = moment.up or next((key for key in free if key != across), None)
    if across is None or up is None or across == up:
        there = ", ".join(varying) or "nothing"
        raise ResultsError(f"heatmap: needs two swept keys that vary, but has {there}")
    return across, up


def _varies(summary: pl.DataFrame, key: str, across: str, up: str) -> bool:
    """Return whether points at the same place on both axes differ in `key`.

    A key that is zipped with an axis does not differ, because each place on the axis has only one
    value of the key.
    """
    return bool((summary.group_by(across, up).agg(pl.col(key).n_unique())[key] > 1).any())


def _panels(summary: pl.DataFrame, others: list[str]) -> list[tuple[str, pl.DataFrame]]:
    if not others:
        return [("", summary)]
    found = [
        (label_of(dict(zip(others, values, strict=True))), points)
        for values, points in summary.group_by(others, maintain_order=True)
    ]
    if len(found) > _PANELS:
        raise ResultsError(
            f"heatmap: {len(found)} panels, one per combination of {', '.join(others)}, are too "
            f"many to see (at most {_PANELS}); fix a key by where, e.g. {others[0]}"
        )
    return found


def in_order(values: pl.Series) -> list[Any]:
    """Return the distinct values: quantities by size, other values in the order of the sweep."""
    distinct = values.unique(maintain_order=True).to_list()
    sizes = [_magnitude(value) for value in distinct]
    if None in sizes or len({kind for kind, _ in filter(None, sizes)}) > 1:
        return distinct
    return sorted(distinct, key=lambda value: _magnitude(value) or ("", 0.0))


def _magnitude(value: object) -> tuple[str, float] | None:
    """Return the unit of a quantity and its number; None for a name."""
    if isinstance(value, int | float):
        return "", float(value)
    quantity = re.fullmatch(
        r"([\d.]+(?:e[+-]?\d+)?)\s*([KMG]i|[numkKMGTµ])?(pkt|bps|s|B|%)?", str(value)
    )
    if quantity is None:
        return None
    number, prefix, unit = quantity.groups()
    kind = "" if unit in (None, "B") else unit  # a size without a unit is in bytes
    return kind, float(number) * _FACTORS.get(prefix or "", 1.0)


def _cell(axes: Axes, x: int, y: int, row: dict[str, Any], unit: float | None) -> None:
    """Draw one point: a shade of grey, and the goodput as a number if it fits."""
    share, goodput = row["goodput_share"], row["goodput_bps"]
    shade = "white" if share is None else str(1 - 0.72 * share)
    hatch = "////" if share is None else None
    axes.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, hatch=hatch, edgecolor="0.8", lw=0.5)
    )
    if unit is not None and goodput is not None:
        axes.annotate(
            units.number(goodput / unit, 3), (x, y), ha="center", va="center", fontsize=8,
            color="white" if share >= _WHITE_FROM else "black",
        )  # fmt: skip


def _contour(
    axes: Axes, cells: dict[tuple[Any, Any], dict[str, Any]], xs: list[Any], ys: list[Any]
) -> None:
    """Draw the border between points that collapse and their neighbours that do not."""

    def collapsed(x: int, y: int) -> bool | None:
        inside = 0 <= x < len(xs) and 0 <= y < len(ys)
        cell = cells.get((xs[x], ys[y])) if inside else None
        return None if cell is None else cell["collapsed"]

    lines = []
    for x in range(len(xs)):
        for y in range(len(ys)):
            if collapsed(x, y) is not True:
                continue
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if collapsed(x + dx, y + dy) is False:
                    middle, along = (x + dx / 2, y + dy / 2), (abs(dy) / 2, abs(dx) / 2)
                    lines.append((middle, along))
    for (left, foot), (wide, high) in lines:
        for colour, thick in (("white", 4.4), (_CONTOUR, 2.4)):
            axes.plot(
                [left - wide, left + wide], [foot - high, foot + high],
                color=colour, linewidth=thick, zorder=3, solid_capstyle="round",
            )  # fmt: skip


def _said(collapsed: pl.Series) -> list[Artist]:
    """Return a legend entry: the border, or a note that every point or no point has collapsed."""
    if collapsed.is_empty():
        return []
    if collapsed.all() or not collapsed.any():
        every = "every point has collapsed" if collapsed.any() else "no point has collapsed"
        return [Patch(facecolor="none", label=every)]
    return [Line2D([], [], color=_CONTOUR, linewidth=2.4, label="border of the collapse")]


def _frame(axes: Axes, xs: list[Any], ys: list[Any], wide: float) -> None:
    axes.set_xlim(-0.5, len(xs) - 0.5)
    axes.set_ylim(-0.5, len(ys) - 0.5)
    names = [style.shorten(written(value), 24) for value in xs]
    upright = max(map(len, names)) * len(names) > wide * 13
    axes.set_xticks(
        range(len(xs)), map(style.literal, names), rotation=90 if upright else 0, fontsize=8.5
    )
    axes.set_yticks(
        range(len(ys)),
        [style.literal(style.shorten(written(value), 32)) for value in ys],
        fontsize=8.5,
    )
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
