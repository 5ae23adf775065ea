"""Another simulator's data for the same curves.

A claim that fails in our runs may fail in these data, too.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from incast.errors import FigureError
from incast.reproduce.data import Curve, Curves
from incast.reproduce.runs import Need, Work, about

# Columns of the reference files, and the matching columns of our rows.
_COLUMNS: Mapping[str, pl.Expr] = {
    "goodput_blocks_mbps": (pl.col("goodput_blocks_mbps") * 1e6).alias("goodput_bps"),
    "goodput_mbps": (pl.col("goodput_mbps") * 1e6).alias("goodput_bps"),
    "timeouts": pl.col("timeouts"),
    "blocks": pl.col("blocks"),
    "fast_retransmits": pl.col("fast_retransmits"),
    "pkts_sent": pl.col("pkts_sent").alias("packets_sent"),
    "bneck_drops": pl.col("bneck_drops").alias("drops"),
    "sim_time_s": pl.col("sim_time_s").alias("elapsed_s"),
    "block_ms_mean": (pl.col("block_ms_mean") / 1e3).alias("completion_s"),
    "duration_ms": (pl.col("duration_ms") / 1e3).alias("completion_s"),
    "queue_max": pl.col("queue_max").alias("queue_max_packets"),
}
_AXES = {"workload.servers": "N"}
_WORDS = {"figure": pl.String, "series": pl.String, "x": pl.String}


def reference(work: Work, measured: Curves) -> Curves | None:
    """Return the other simulator's curves with the same labels, or None if it has no such data.

    The data of a curve are the rows of `figures_TEXT.csv` with the number of the figure and the
    label of the curve; the traces are in `traces_TEXT.csv`. If there are no such rows, the curve's
    `reference` names the data.

    Raises
    ------
    FigureError
        A file is missing, or lacks a column or rows.
    """
    place, axis = work.chosen.paper.reference, work.figure.x
    if place is None or not place.is_dir():
        return None
    rows, traces = (_of_figure(work, place, kind) for kind in ("figures", "traces"))
    found = {}
    for need in work.needs:
        label, given = need.series.label, need.series.reference
        if rows is not None and (rows["series"] == label).any():
            found[label] = _own(work, need, rows, traces)
        elif given is not None and axis is not None and axis.key in _AXES:
            where = f"{work.chosen.name}: {label}: reference"
            table = _read(place / given.file, given.where, where)
            found[label] = _curve(label, table, _AXES[axis.key])
    if not found:
        return None
    return Curves(
        found, measured.metric, measured.stat, measured.trace, measured.only, between=True
    )


def _of_figure(work: Work, place: Path, kind: str) -> pl.DataFrame | None:
    file = place / f"{kind}_{work.chosen.paper.name}.csv"
    if not file.exists():
        return None
    try:
        table = pl.read_csv(file, schema_overrides=_WORDS, infer_schema_length=None)
        # Without this cast, a column without numbers would become a column of strings.
        numbers = pl.exclude(*_WORDS, "seed").cast(pl.Float64)
        return table.with_columns(numbers).filter(pl.col("figure") == work.chosen.number)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FigureError(f"{file.name}: {str(error).splitlines()[0]}") from None


def _read(file: Path, conditions: Mapping[str, object], where: str) -> pl.DataFrame:
    try:
        table = pl.read_csv(file)
        table = table.filter(*(pl.col(key) == value for key, value in conditions.items()))
    except (OSError, pl.exceptions.PolarsError) as error:
        raise FigureError(f"{where}: {file.name}: {str(error).splitlines()[0]}") from None
    if table.is_empty():
        raise FigureError(f"{where}: {file.name} has no row that meets the conditions")
    return table


def _curve(label: str, table: pl.DataFrame, axis: str) -> Curve:
    points = pl.DataFrame({axis: sorted(table[axis].unique())}).with_row_index("x")
    rows = table.join(points, on=axis, how="left").with_columns(
        pl.col("x").cast(pl.Int64),
        pl.col(axis).alias("servers"),
        pl.lit(1e9).alias("line_rate_bps"),
    )
    return Curve(label, points[axis].to_list(), _as_ours(rows))


def _own(work: Work, need: Need, rows: pl.DataFrame, traces: pl.DataFrame | None) -> Curve:
    """Return a curve that was measured for this figure, at the figure's points."""
    label = need.series.label
    numbers = {"at": [str(x) for x in work.xs], "i": range(len(work.xs))}
    points = pl.DataFrame(numbers, schema={"at": pl.String, "i": pl.Int64})
    here = (
        rows.filter(pl.col("series") == label)
        .join(points, left_on="x", right_on="at", how="inner")
        .with_columns(pl.col("i").alias("x"))
        .join(about(need.points), on="x", how="left")
    )
    frames = []
    if traces is not None:
        frames = traces.filter(pl.col("series") == label).partition_by("seed", maintain_order=True)
    return Curve(label, work.xs, _as_ours(here), (lambda _: frames) if frames else None)


def _as_ours(table: pl.DataFrame) -> pl.DataFrame:
    columns = [value for name, value in _COLUMNS.items() if name in table.columns]
    rows = table.select(
        "x", "seed", pl.lit("ok").alias("status"), "servers", "line_rate_bps", *columns
    )
    if "drops" in rows.columns and "packets_sent" in rows.columns:
        rows = rows.with_columns((pl.col("drops") / pl.col("packets_sent")).alias("drop_ratio"))
    return rows
