"""Two results compared at the same points, seed by seed.

Runs with the same seed have the same random streams, so a seed that is hard for one result is hard
for the other. Therefore the difference is computed for each seed. `incast.results.intervals` gives
the interval of the mean difference. At each single point, this interval contains the true mean in
95 % of the cases.

Percentiles of block times are taken from the blocks of all seeds together, as in a summary
(`incast.results.pooled`). The interval of the difference of two percentiles is computed from their
own intervals (Zou and Donner 2008, Statistics in Medicine 27, equation 7, without correlation).
This interval is somewhat too wide, because a hard seed is hard for both results.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import hypot
from typing import Any

import numpy as np
import polars as pl

from incast.errors import ResultsError
from incast.results import Results, pooled
from incast.results.frames import COMPLETIONS
from incast.results.intervals import SCATTERED, Floats, Samples, interval
from incast.results.statistics import possible
from incast.scenario.plan import Value

SHARES = pooled.PERCENTILES | {pooled.SLOWEST: 1.0}
"""The share of the blocks at or below each percentile of block times (0.99 for p99, 1 for the
slowest block), by the name of its column."""
_MORE_IS_BETTER = {"goodput_bps", "fairness", "link_utilization", "bytes", "blocks"}


class Finding(StrEnum):
    """The result of the comparison of B with A at a point."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "the same"
    UNKNOWN = "cannot tell"


@dataclass(frozen=True)
class Compared:
    """One quantity at one point.

    Parameters
    ----------
    swept
        The point: the values of the keys that both results sweep.
    seeds
        The number of seeds that have finished in both results.
    a, b
        The means over these seeds.
    difference, low, high
        The mean of B minus A, and the ends of its 95 % interval; None for fewer than two seeds.
    finding
        The conclusion from the interval.
    ratio_low, ratio_high
        The ends of the interval of the ratio B/A if A and B have intervals of their own, else None.
        This interval is somewhat too wide.
    """

    swept: dict[str, Value]
    seeds: int
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    finding: Finding
    ratio_low: float | None = None
    ratio_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for programs."""
        return {
            **self.swept,
            "seeds": self.seeds,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "difference_ci95_low": self.low,
            "difference_ci95_high": self.high,
            "finding": str(self.finding),
        }


def compare(
    a: Results, b: Results, column: str = "goodput_bps", group: str = "all"
) -> list[Compared]:
    """Compare two results at all points that both results have.

    Parameters
    ----------
    a, b
        The results. A key that only one of the results sweeps must have a single value.
    column
        The quantity. More is better for goodput, fairness, utilisation, bytes and blocks. Less is
        better for all other quantities.
    group
        The group of the rows.

    Raises
    ------
    ResultsError
        The results have no such column, or no point with a finished seed in common.
    """
    keys = _keys(a, b)
    if column in SHARES and pooled.known(a.numbered(group)) and pooled.known(b.numbered(group)):
        return _percentiles(a, b, column, group, keys)
    first, second = (_values(results, column, group, keys) for results in (a, b))
    on = [*keys, "seed"]
    both = first.join(second, on=on, how="inner", suffix="_b", maintain_order="left")
    if both.is_empty():
        raise ResultsError("compare: the results have no point with a finished seed in common")
    found = []
    for values, rows in both.group_by(keys or [pl.lit(0)], maintain_order=True):
        here = possible(column, a.resolved(int(rows["point"][0])))
        there = possible(column, b.resolved(int(rows["point_b"][0])))
        swept = dict(zip(keys, values, strict=False))
        ours, theirs = (rows[name].cast(pl.Float64).to_numpy() for name in (column, f"{column}_b"))
        found.append(paired(column, (ours, theirs), (here, there), swept))
    return found


def _percentiles(
    a: Results, b: Results, column: str, group: str, keys: list[str]
) -> list[Compared]:
    """Compare a percentile of block times at all points that both results have."""
    first, second = (_values(one, COMPLETIONS, group, keys) for one in (a, b))
    both = first.join(second, on=[*keys, "seed"], how="inner", suffix="_b", maintain_order="left")
    found = []
    for values, rows in both.group_by(keys or [pl.lit(0)], maintain_order=True):
        pairs = [
            (np.asarray(ours, float), np.asarray(theirs, float))
            for ours, theirs in rows.select(COMPLETIONS, f"{COMPLETIONS}_b").iter_rows()
            if len(ours) and len(theirs)
        ]
        if pairs:
            ours, theirs = zip(*pairs, strict=True)
            swept = dict(zip(keys, values, strict=False))
            found.append(percentiles(column, (ours, theirs), swept))
    if not found:
        raise ResultsError("compare: the results have no point with a finished seed in common")
    return found


def percentiles(
    column: str,
    blocks: tuple[Sequence[Floats], Sequence[Floats]],
    swept: dict[str, Value] | None = None,
) -> Compared:
    """Compare a percentile of block times at one point.

    Parameters
    ----------
    column
        The column of the percentile: a key of `SHARES`.
    blocks
        The block times of A and of B in seconds, seed by seed.
    swept
        The point, which the answer repeats.
    """
    ours, theirs = blocks
    (a, a_low, a_high), (b, b_low, b_high) = (
        pooled.estimate(one, SHARES[column]) for one in (ours, theirs)
    )
    low = high = least = most = None
    if a_low is not None and a_high is not None and b_low is not None and b_high is not None:
        low = b - a - hypot(b - b_low, a_high - a)
        high = b - a + hypot(b_high - b, a - a_low)
        if a_low > 0:
            least, most = b_low / a_high, b_high / a_low
    same = len(ours) == len(theirs) and all(map(np.array_equal, ours, theirs))
    finding = _finding(column, same, low, high)
    return Compared(swept or {}, len(ours), a, b, b - a, low, high, finding, least, most)


def _finding(column: str, same: bool, low: float | None, high: float | None) -> Finding:
    """Return the conclusion from an interval of B minus A."""
    if same:
        return Finding.SAME
    if low is None or high is None or low <= 0 <= high:
        return Finding.UNKNOWN
    better = (low > 0) == (column in _MORE_IS_BETTER)
    return Finding.BETTER if better else Finding.WORSE


def _keys(a: Results, b: Results) -> list[str]:
    """Return the keys that both results sweep; other swept keys must have a single value."""
    keys = [key for key in a.plan.swept if key in b.plan.swept]
    for results in (a, b):
        for key in results.plan.swept:
            if key not in keys and len({str(it.swept[key]) for it in results.plan.points}) > 1:
                raise ResultsError(
                    f"compare: {key} is swept in only one of the results; fix it with --set, or "
                    "sweep it in both"
                )
    return keys


def _values(results: Results, column: str, group: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return the value of a column for each point and finished seed.

    If several points have equal values of `keys`, a seed has only the value of the first point.
    """
    rows = results.numbered(group)
    numbers = column == COMPLETIONS or (column in rows.columns and rows.schema[column].is_numeric())
    if not numbers:
        raise ResultsError(f"compare: there is no column {column!r} of numbers in the results")
    whole = rows.filter((pl.col("status") == "ok") & pl.col(column).is_not_null())
    return whole.select(*keys, "seed", "point", column).unique(
        [*keys, "seed"], keep="first", maintain_order=True
    )


def paired(
    column: str,
    values: tuple[Floats, Floats],
    ranges: tuple[tuple[float, float], tuple[float, float]],
    swept: dict[str, Value] | None = None,
) -> Compared:
    """Compare one quantity at one point.

    Parameters
    ----------
    column
        The quantity.
    values
        The values of A and of B, for the same seeds in the same order.
    ranges
        The possible ranges of A and of B (see `possible`).
    swept
        The point, which the answer repeats.
    """
    ours, theirs = values
    differences = theirs - ours
    mean = float(differences.mean())
    low = high = None
    if len(differences) > 1:
        (least, most), (least_b, most_b) = ranges
        # If seeds have several outcomes, a few seeds that agree say little about further seeds.
        several = any(one.min() >= 0 and one.max() > SCATTERED * one.min() for one in values)
        ends = interval(
            Samples.of(differences), least_b - most, most_b - least, flags=bool(several)
        )
        low, high = (float(end) for end in ends)
    finding = _finding(column, not differences.any(), low, high)
    return Compared(
        swept or {}, len(differences), float(np.mean(ours)), float(np.mean(theirs)), mean, low,
        high, finding,
    )  # fmt: skip
