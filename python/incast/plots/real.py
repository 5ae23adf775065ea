"""Goodput of real hosts, drawn with simulated curves."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from incast.results.series import Series


def beside(
    axes: Axes, real: pl.DataFrame, curve: Series, where: dict[int, Any], unit: float, colour: str
) -> None:
    """Draw the means of real hosts as a dotted line next to a simulated curve.

    Parameters
    ----------
    real
        The summary of the real runs: `point` and `goodput_bps`, which is null if no run is trusted.
    """
    rows = real.filter(
        pl.col("point").is_in(curve.points["point"].to_list()) & pl.col("goodput_bps").is_not_null()
    )
    label = f"{curve.label} (real hosts)" if curve.label else "real hosts"
    x = [where[point] for point in rows["point"]]
    looks: dict[str, Any] = {"color": colour, "lw": 1.2, "marker": "D", "markersize": 4.5}
    axes.plot(x, rows["goodput_bps"] / unit, ":", markerfacecolor="white", label=label, **looks)


def joined(drawn: pl.DataFrame, real: pl.DataFrame) -> pl.DataFrame:
    """Add a column with the goodput of real hosts to simulated data, point by point."""
    column = pl.col("goodput_bps").alias("real.goodput_bps")
    rows = real.select(pl.col("point").cast(drawn["point"].dtype), column)
    return drawn.join(rows, on="point", how="left")
