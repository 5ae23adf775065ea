"""Percentiles of the block times of all seeds together, with 95 % confidence intervals.

The mean of the seeds' percentiles is not a percentile. If half of the seeds have a block that waits
for a timer, this mean lies between the times of blocks with and without a wait, but no block takes
such a time.

The blocks of a seed depend on each other, so an interval must be based on whole seeds. Woodruff's
interval is used. Each seed has a share of blocks that take at most the pooled percentile. The mean
of these shares over the seeds has a confidence interval (`incast.results.intervals`), which runs
from one share to another. The pooled percentiles at these two shares are the ends of Woodruff's
interval. This interval extends at most to the slowest block, so it may be too short if few blocks
are beyond a percentile.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from incast.results.frames import COMPLETIONS
from incast.results.intervals import CONFIDENCE, HIGH, LOW, Floats, Samples, interval

PERCENTILES = {
    "completion_p50_s": 0.5,
    "completion_p95_s": 0.95,
    "completion_p99_s": 0.99,
    "completion_p999_s": 0.999,
}
SLOWEST = "completion_max_s"


def known(rows: pl.DataFrame) -> bool:
    """Return whether all blocks of all finished runs are stored."""
    if COMPLETIONS not in rows.columns:
        return False
    whole = rows.filter((pl.col("status") == "ok") & (pl.col("blocks") > 0))
    return whole[COMPLETIONS].null_count() == 0


def percentile(ordered: Floats, share: float) -> float:
    """Return a quantile of sorted values, as in result rows: one of the values itself."""
    return float(ordered[min(int(len(ordered) * share), len(ordered) - 1)])


def pool(rows: pl.DataFrame, confidence: float = CONFIDENCE) -> pl.DataFrame:
    """Return a row per point: percentiles of the blocks of its finished runs, and their intervals.

    Parameters
    ----------
    rows
        Result rows of one group, with `point` and their blocks.
    confidence
        The confidence of a single interval.

    Returns
    -------
    DataFrame
        The column `point`, and for each percentile `x` the columns `x`, `x_ci95_low` and
        `x_ci95_high`. The last two columns are null if there is only one seed. The slowest block
        has no interval. Points without blocks are left out.
    """
    whole = rows.filter((pl.col("status") == "ok") & (pl.col("blocks") > 0))
    found = [
        _Point(int(number), [np.asarray(one, float) for one in blocks])
        for number, blocks in whole.group_by("point", maintain_order=True)
        .agg(COMPLETIONS)
        .iter_rows()
    ]
    columns: dict[str, object] = {"point": [one.number for one in found]}
    for name, share in PERCENTILES.items():
        ends = _ends([one.shares(share) for one in found], confidence)
        columns[name] = [percentile(one.ordered, share) for one in found]
        several = [one.several for one in found]
        for side, levels in zip((LOW, HIGH), ends, strict=True):
            values = [
                one.at(share + level) if level == level else None  # noqa: PLR0124 (not NaN)
                for one, level in zip(found, levels, strict=True)
            ]
            columns[f"{name}{side}"] = [
                value if many else None for value, many in zip(values, several, strict=True)
            ]
    columns[SLOWEST] = [float(one.ordered[-1]) for one in found]
    types = {name: pl.Float64 for name in columns if name != "point"}
    return pl.DataFrame(columns, schema_overrides={"point": rows["point"].dtype, **types})


def estimate(
    blocks: Sequence[Floats], share: float, confidence: float = CONFIDENCE
) -> tuple[float, float | None, float | None]:
    """Return a percentile of the block times of all seeds, and the ends of its interval.

    Parameters
    ----------
    blocks
        The block times of each seed in seconds, with at least one block in total.
    share
        The share of the percentile, such as 0.99; 1 is the slowest block, which has no interval.
    """
    point = _Point(0, list(blocks))
    if share >= 1:
        return float(point.ordered[-1]), None, None
    value = percentile(point.ordered, share)
    if not point.several:
        return value, None, None
    low, high = (float(ends[0]) for ends in _ends([point.shares(share)], confidence))
    return value, point.at(share + low), point.at(share + high)


def with_pooled(
    summary: pl.DataFrame, rows: pl.DataFrame, confidence: float = CONFIDENCE
) -> pl.DataFrame:
    """Replace the means of the seeds' percentiles in a summary by pooled percentiles."""
    if not known(rows):
        return summary
    pooled = pool(rows, confidence)
    ends = [f"{name}{end}" for name in (*PERCENTILES, SLOWEST) for end in ("", LOW, HIGH)]
    found = summary.select("point").join(
        pooled.with_columns(
            pl.lit(None, pl.Float64).alias(f"{SLOWEST}{end}") for end in (LOW, HIGH)
        ),
        on="point",
        how="left",
        maintain_order="left",
    )
    return summary.with_columns(found[name] for name in ends if name in summary.columns)


class _Point:
    """The blocks of one point."""

    def __init__(self, number: int, blocks: list[Floats]) -> None:
        self.number = number
        self.several = len(blocks) > 1
        self.sizes = np.array([len(one) for one in blocks])
        everything = np.concatenate(blocks)
        order = np.argsort(everything, kind="stable")
        self.ordered = everything[order]
        self.seeds = np.repeat(np.arange(len(blocks)), self.sizes)[order]

    def shares(self, share: float) -> Floats:
        """Return, for each seed, the share of its blocks that take at most the pooled percentile.

        The mean of these shares is the share of all blocks together. A seed with fewer blocks than
        the mean is filled up with blocks that have this overall share.
        """
        last = np.searchsorted(self.ordered, percentile(self.ordered, share), "right")
        below = np.bincount(self.seeds[:last], minlength=len(self.sizes))
        all_below = last / len(self.ordered)
        mean = self.sizes.mean()
        return np.asarray((below + all_below * (mean - self.sizes)) / mean)

    def at(self, level: float) -> float:
        """Return the pooled percentile at a level, which is limited to the range from 0 to 1."""
        return percentile(self.ordered, min(max(level, 0.0), 1.0))


def _ends(shares: list[Floats], confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of the intervals of mean shares, relative to these means."""
    every = [Samples.of(one) for one in shares]
    names = ("count", "mean", "deviation", "least", "most")
    told = {name: np.array([getattr(one, name) for one in every], float) for name in names}
    low, high = interval(Samples(**told), 0.0, 1.0, confidence=confidence)
    return low - told["mean"], high - told["mean"]
