"""Curves with their intervals over a swept key, for several kinds of pictures."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from incast.plots import style
from incast.results.intervals import HIGH, LOW
from incast.results.series import Series, ordered


def places(axes: Axes, axis: str | None, summary: pl.DataFrame) -> dict[int, float]:
    """Set up the horizontal axis of a summary; return the position of each point."""
    values = summary[axis].to_list() if axis else [""] * summary.height
    return dict(zip(summary["point"], style.positions(axes, axis, values), strict=True))


def interval(points: pl.DataFrame, name: str) -> tuple[pl.Series, pl.Series]:
    """Return the ends of a quantity's confidence interval; if there is none, return the mean."""
    low, high = (points[f"{name}{end}"].fill_null(points[name]) for end in (LOW, HIGH))
    return low, high


def draw(
    axes: Axes,
    one: Series,
    name: str,
    *,
    axis: str | None,
    where: Mapping[int, float],
    unit: float = 1.0,
    looks: dict[str, Any],
    label: str,
    band: bool = True,
    beside: float | None = None,
) -> None:
    """Draw the means of a curve, joined by lines if its axis has an order.

    If a curve has no values, its label says so. Bands of many curves would cover each
    other. With `beside`, intervals are therefore bars instead of bands, and the curve is moved by
    `beside` typographic points.
    """
    x = pl.Series([where[point] for point in one.points["point"]], dtype=pl.Float64)
    mean = one.points[name] / unit
    low, high = (end / unit for end in interval(one.points, name))
    known = mean.is_not_null()
    if not known.any():
        label = f"{label} (no run finished)" if label else "no run finished"
    joined = ordered(one.points[axis] if axis else ())
    if joined:
        moved = axes.transData
        if beside is not None:
            moved += ScaledTranslation(beside / 72, 0, axes.figure.dpi_scale_trans)
        (line,) = axes.plot(x, mean, label=label, clip_on=False, **looks)
        line.set_transform(moved)  # only now, so that the axes' limits ignore the shift
        if band and beside is not None:
            bars = axes.vlines(
                x.filter(known), low.filter(known), high.filter(known),
                color=looks["color"], lw=1.1, alpha=0.75,
            )  # fmt: skip
            bars.set_transform(moved)
        elif band:
            axes.fill_between(x, low, high, color=looks["color"], alpha=0.2, lw=0)
    else:
        looks = looks | {"linestyle": "none"}
        ends = [(mean - low).filter(known), (high - mean).filter(known)] if band else None
        axes.errorbar(
            x.filter(known), mean.filter(known), ends,
            label=label, capsize=3, elinewidth=1.0, clip_on=False, **looks,
        )  # fmt: skip


def unfinished(axes: Axes, series: Sequence[Series], where: Mapping[int, float]) -> None:
    """Mark points at which no run of a curve finished, at the bottom of the picture."""
    lost = {where[point] for one in series for point in one.points.filter(ok=0)["point"]}
    if lost:
        axes.plot(
            sorted(lost), [0] * len(lost), "x", color=style.COLOURS[4], clip_on=False, zorder=5,
            transform=axes.get_xaxis_transform(), label="no run of a curve finished",
        )  # fmt: skip
