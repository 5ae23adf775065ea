"""Two results compared at the same points, seed by seed.

Runs with the same seed have the same random streams, so a difference is taken within a seed: what
makes a seed easy or hard is in both. The interval of the mean difference is that of
`incast.results.intervals`, and contains it in 95 % of the cases, at each point on its own.

Percentiles of block times are those of the blocks of all seeds together, as in a summary
(`incast.results.pooled`). The interval of their difference is made of the intervals of the two
(Zou and Donner 2008, Statistics in Medicine 27, equation 7, without correlation): it is rather too
wide, as what makes a seed hard is in both.
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
"""The percentiles of block times, by their columns."""
_MORE_IS_BETTER = {"goodput_bps", "fairness", "link_utilization", "bytes", "blocks"}


class Finding(StrEnum):
    """What the runs say about B beside A at a point."""

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
        The point: the values of the keys that both sweep.
    seeds
        How many seeds have finished in both.
    a, b
        The means over these seeds.
    difference, low, high
        The mean of B minus A, and the ends of its 95 % interval; None for less than two seeds.
    finding
        What follows.
    ratio_low, ratio_high
        The ends of the interval of B over A where both have intervals of their own, else None. It
        is rather too wide.
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
        """Return it for programs."""
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
    """Compare two results at all points that both have.

    Parameters
    ----------
    a, b
        The results. They sweep the same keys, or one key more that has a single value.
    column
        The quantity. More is better of goodput, fairness, utilisation and bytes, less of others.
    group
        The group of the rows.

    Raises
    ------
    ResultsError
        They have no such column, or no point with a finished seed in common.
    """
    keys = _keys(a, b)
    if column in SHARES and pooled.known(a.numbered(group)) and pooled.known(b.numbered(group)):
        return _percentiles(a, b, column, group, keys)
    first, second = (_values(results, column, group, keys) for results in (a, b))
    on = [*keys, "seed"]
    both = first.join(second, on=on, how="inner", suffix="_b", maintain_order="left")
    if both.is_empty():
        raise ResultsError("compare: the two have no point with a finished seed in common")
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
    """Compare a percentile of block times at all points that both have."""
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
        raise ResultsError("compare: the two have no point with a finished seed in common")
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
        Which one: a key of `SHARES`.
    blocks
        The seconds of the blocks of A and of B, seed by seed.
    swept
        The point, for the answer.
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
    """Return what an interval of B minus A says."""
    if same:
        return Finding.SAME
    if low is None or high is None or low <= 0 <= high:
        return Finding.UNKNOWN
    better = (low > 0) == (column in _MORE_IS_BETTER)
    return Finding.BETTER if better else Finding.WORSE


def _keys(a: Results, b: Results) -> list[str]:
    """Return the keys that both sweep; other swept keys must have one value."""
    keys = [key for key in a.plan.swept if key in b.plan.swept]
    for results in (a, b):
        for key in results.plan.swept:
            if key not in keys and len({str(it.swept[key]) for it in results.plan.points}) > 1:
                raise ResultsError(
                    f"compare: {key} is swept in only one of the two; fix it with --set, or sweep "
                    "it in both"
                )
    return keys


def _values(results: Results, column: str, group: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return the column for each point and seed that finished, once for equal points."""
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
        Those of A and of B, seed by seed: the same seeds in the same order.
    ranges
        The possible range of either (see `possible`).
    swept
        The point, for the answer.
    """
    ours, theirs = values
    differences = theirs - ours
    mean = float(differences.mean())
    low = high = None
    if len(differences) > 1:
        (least, most), (least_b, most_b) = ranges
        # Outcomes of several kinds: seeds that agree say little about the others.
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
