"""Metrics of figures and claims: columns of the rows, and values computed from them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import polars as pl

from incast import _core
from incast.errors import FigureError
from incast.models import MODELS
from incast.reproduce.strict import choose


@dataclass(frozen=True)
class Metric:
    """One number per run.

    Parameters
    ----------
    name
        Name of the metric in a figure.
    label
        Name of the metric on an axis, with the unit.
    value
        Expression for the metric, from the columns of a row, `servers` and `line_rate_bps`.
    """

    name: str
    label: str
    value: pl.Expr


_goodput, _servers, _blocks = pl.col("goodput_bps"), pl.col("servers"), pl.col("blocks")

DERIVED: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("goodput_mbps", "goodput [Mbps]", _goodput / 1e6),
        Metric("goodput_share", "goodput [share of the link]", _goodput / pl.col("line_rate_bps")),
        Metric("goodput_per_server_mbps", "goodput per server [Mbps]", _goodput / _servers / 1e6),
        Metric(
            "packets_per_s", "throughput [packets/s]", pl.col("packets_sent") / pl.col("elapsed_s")
        ),
        Metric("completion_ms", "completion time [ms]", pl.col("completion_s") * 1e3),
        Metric("completion_p95_ms", "95th percentile [ms]", pl.col("completion_p95_s") * 1e3),
        Metric("timeouts_per_block", "timeouts per block", pl.col("timeouts") / _blocks),
        Metric("timeouts_per_server", "timeouts per connection", pl.col("timeouts") / _servers),
        Metric(
            "block_head_share",
            "share of the timeouts at the head of a block",
            pl.col("timeouts_block_head") / pl.col("timeouts"),
        ),
        Metric("drop_percent", "packets dropped [%]", pl.col("drop_ratio") * 100),
    )
}

# Metrics of the blocks that a search finds (`late.py`). Of several blocks, the block in which the
# late sender stands out least counts.
LATE: Mapping[str, Metric] = {
    name: Metric(name, label, pl.col(name))
    for name, label in (
        ("late_wait_s", "time from the late sender's last loss to its timeout [s]"),
        ("late_idle_s", "longest idle time of the link in the block [s]"),
        ("late_after_s", "time from the start of the block to the late sender's last loss [s]"),
        ("late_dupacks", "duplicate ACKs at the timeout"),
        ("late_window_rank", "rank of the late sender's window at the end (1 is the largest)"),
    )
}


@cache
def all_metrics() -> dict[str, Metric]:
    """Return all metrics by name: derived metrics, columns of the rows, and models' numbers."""
    columns = json.loads(_core.columns("rows"))
    plain = {
        column["name"]: Metric(column["name"], _label(column), pl.col(column["name"]))
        for column in columns
        if column["unit"]
    }
    theory = {
        measure.name: Metric(measure.name, f"{measure.name} [{measure.unit}]", pl.lit(None))
        for model in MODELS.values()
        for measure in model.measures
    }
    return {**theory, **plain, **DERIVED, **LATE}


def _label(column: Mapping[str, str]) -> str:
    words = column["name"].replace("_", " ")
    return words if column["unit"] == "1" else f"{words} [{column['unit']}]"


@dataclass(frozen=True)
class Named:
    """The name of a metric in a figure."""

    metric: Metric

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Named":
        """Take the name of a metric; refuse unknown names."""
        return cls(choose(value, all_metrics(), where))


def of(frame: pl.DataFrame, metric: Metric, where: str) -> pl.Series:
    """Return a metric of every row: read the column with its name, or compute the values.

    Raises
    ------
    FigureError
        The rows lack a column that the metric needs.
    """
    if metric.name in frame.columns:
        return frame[metric.name]
    for column in metric.value.meta.root_names() or [metric.name]:
        if column not in frame.columns:
            raise FigureError(f"{where}: has no {column}, which {metric.name} needs")
    return frame.select(metric.value.alias("")).to_series()
