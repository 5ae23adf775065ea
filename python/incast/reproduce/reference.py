"""Another simulator's data of the same curves: what a claim that fails here may fail in, too."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from incast.errors import FigureError
from incast.reproduce.data import Curve, Curves
from incast.reproduce.runs import Work

# Columns of the reference files, and the columns of our rows that they stand for.
_COLUMNS: Mapping[str, pl.Expr] = {
    "goodput_blocks_mbps": (pl.col("goodput_blocks_mbps") * 1e6).alias("goodput_bps"),
    "goodput_mbps": (pl.col("goodput_mbps") * 1e6).alias("goodput_bps"),
    "timeouts": pl.col("timeouts"),
    "blocks": pl.col("blocks"),
    "fast_retransmits": pl.col("fast_retransmits"),
    "pkts_sent": pl.col("pkts_sent").alias("packets_sent"),
    "bneck_drops": pl.col("bneck_drops").alias("drops"),
    "sim_time_s": pl.col("sim_time_s").alias("elapsed_s"),
}
_AXES = {"workload.servers": "N"}


def reference(work: Work, measured: Curves) -> Curves | None:
    """Return the other simulator's curves, by the same labels; nothing if there are none.

    Raises
    ------
    FigureError
        A file is missing, or lacks a column or rows.
    """
    place, axis = work.chosen.paper.reference, work.figure.x
    if place is None or not place.is_dir() or axis is None or axis.key not in _AXES:
        return None
    found = {}
    for series in work.figure.series:
        if series.reference is not None:
            where = f"{work.chosen.name}: {series.label}: reference"
            table = _read(place / series.reference.file, series.reference.where, where)
            found[series.label] = _curve(series.label, table, _AXES[axis.key])
    return Curves(found, measured.metric, measured.stat, between=True) if found else None


def _read(file: Path, conditions: Mapping[str, object], where: str) -> pl.DataFrame:
    try:
        table = pl.read_csv(file)
        table = table.filter(*(pl.col(key) == value for key, value in conditions.items()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FigureError(f"{where}: {file.name}: {str(error).splitlines()[0]}") from None
    if table.is_empty():
        raise FigureError(f"{where}: {file.name} has no such rows")
    return table


def _curve(label: str, table: pl.DataFrame, axis: str) -> Curve:
    points = pl.DataFrame({axis: sorted(table[axis].unique())}).with_row_index("x")
    columns = [value for name, value in _COLUMNS.items() if name in table.columns]
    rows = table.join(points, on=axis, how="left").select(
        pl.col("x").cast(pl.Int64),
        "seed",
        pl.lit("ok").alias("status"),
        pl.col(axis).alias("servers"),
        pl.lit(1e9).alias("line_rate_bps"),
        *columns,
    )
    if "drops" in rows.columns and "packets_sent" in rows.columns:
        rows = rows.with_columns((pl.col("drops") / pl.col("packets_sent")).alias("drop_ratio"))
    return Curve(label, points[axis].to_list(), rows)
