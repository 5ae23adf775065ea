"""The columns that show whether a run has collapsed."""

from collections.abc import Callable, Iterable

import polars as pl

from incast.collapse import collapsed
from incast.scenario.lossless import block_bits, lossless_goodput
from incast.scenario.plan import Plan
from incast.scenario.resolved import Resolved

LOSSLESS, COLLAPSED = "lossless_goodput_bps", "collapsed"
DESCRIPTIONS = (
    (LOSSLESS, "bit/s", "Computed goodput of the workload without losses."),
    (
        COLLAPSED,
        "",
        "Whether timeouts cost the run more than half of the lossless goodput; see collapse.md.",
    ),
)
"""Name, unit and meaning of each column."""

_PROBES = "stalls_tail_probe"
_NEEDS = ("goodput_bps", "blocks", "elapsed_s", "timeouts", "timeouts_handshake")


def with_collapse(rows: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """Add the columns of `DESCRIPTIONS` to rows with a `point`; null outside the group `all`."""
    if any(name not in rows.columns for name in _NEEDS):
        return rows
    points = facts(plan, rows["point"].unique())
    found = rows.select("point", "group", *_NEEDS, _probes(rows)).join(
        points, on="point", how="left"
    )
    own = (rows["group"] == "all").alias("own")
    columns = judge(found).select(
        pl.when(own).then(pl.col(name)).alias(name) for name in (LOSSLESS, COLLAPSED)
    )
    return rows.with_columns(columns)


def at_points(summary: pl.DataFrame, resolved: Callable[[int], Resolved]) -> list[bool]:
    """Return whether each point of a summary has collapsed, judged by its means over the seeds.

    A point without a finished run has not collapsed.
    """
    points = pl.DataFrame(
        [{"point": index, **of_point(resolved(index))} for index in summary["point"]],
        schema_overrides={"block_bits": pl.Float64},
    )
    means = summary.select(*(pl.col(name).cast(pl.Float64) for name in _NEEDS), _probes(summary))
    return judge(means.hstack(points))[COLLAPSED].to_list() if len(points) else []


def facts(plan: Plan, points: Iterable[int]) -> pl.DataFrame:
    """Return the quantities that decide about a collapse, with a row per point of a plan."""
    return pl.DataFrame(
        [{"point": index, **of_point(plan.points[index].here)} for index in points],
        schema_overrides={"point": pl.Int32, "block_bits": pl.Float64},
    )


def of_point(here: Resolved) -> dict[str, float | None]:
    """Return the quantities that decide about a collapse at one point."""
    return {
        LOSSLESS: lossless_goodput(here),  # NaN if undefined; such a run has not collapsed
        "block_bits": block_bits(here) if here.reads else None,
        "flows": 1.0 if here.reads else float(here.flows),
        "rto_min": here.rto_min,
        "syn_rto": here.syn_rto,
    }


def _probes(rows: pl.DataFrame) -> pl.Expr:
    """Return the number of waits that a tail-loss probe ended; 0 if old results lack the column."""
    if _PROBES not in rows.columns:
        return pl.lit(0.0).alias(_PROBES)
    return pl.col(_PROBES).cast(pl.Float64).fill_null(0.0)


def judge(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `collapsed` to rows, or to means of rows, which have the quantities of `of_point`."""
    blocks = pl.col("blocks").cast(pl.Float64).replace(0.0, None)
    rows = rows.with_columns((pl.col("timeouts") + pl.col(_PROBES)).alias("timeouts"))
    rows = rows.with_columns(
        (pl.col("timeouts") / blocks).alias("per_block"),
        (
            (pl.col("timeouts") - pl.col("timeouts_handshake")) * pl.col("rto_min")
            + pl.col("timeouts_handshake") * pl.col("syn_rto")
        ).alias("waits"),
        # Long flows have no blocks. For them, bits are those of the run, and waits are those per
        # flow.
        pl.coalesce("block_bits", pl.col("goodput_bps") * pl.col("elapsed_s")).alias("bits"),
        pl.coalesce(blocks, "flows").alias("units"),
    )
    told = collapsed(
        rows["goodput_bps"].to_numpy(),
        rows[LOSSLESS].to_numpy(),
        rows["bits"].to_numpy(),
        rows["per_block"].to_numpy(),
        (rows["waits"] / rows["units"]).to_numpy(),
    )
    return rows.drop("per_block", "waits", "bits", "units").with_columns(pl.Series(COLLAPSED, told))
