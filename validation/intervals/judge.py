"""Confidence intervals of samples of a few seeds, and the share of these intervals that contain
the mean of thousands of seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats

import incast
from incast.results.frames import COMPLETIONS
from incast.results.intervals import HIGH, LOW
from incast.results.pooled import PERCENTILES, percentile, with_pooled
from incast.results.statistics import possible, summarise

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE_MODE, SEVERAL = 0.93, 0.90
"""Minimum shares of intervals that contain the true mean: for outcomes with one mode, and with
several modes."""
HELD = ("goodput_bps", "completion_s", "timeouts_per_block")
"""The quantities for which these shares are required."""
ALSO = ("completion_p50_s", "completion_p99_s")
"""Pooled percentiles; no share is required for them."""
_RESAMPLES = 999


@dataclass(frozen=True)
class Point:
    """A read of 20 blocks on 1 Gbps, with 64 KiB per server and a buffer of 100 KiB."""

    name: str
    servers: int
    rto_min: str
    knee: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The scenario."""
        return {
            "network": {"rate": "1Gbps", "delay": "25us", "buffer": "100KiB"},
            "workload": {
                "name": "barrier-read", "servers": self.servers, "sru": "64KiB", "blocks": 20,
                "connections": "persistent", "request_jitter": "20us",
            },
            "transport": {
                "name": "newreno", "rto_min": self.rto_min, "receive_window": "32KiB",
                "send_jitter": "8us",
            },
        }  # fmt: skip


POINTS = (
    Point("2 servers: no loss", 2, "200ms"),
    Point("8 servers, RTO min 5 ms: rare short waits", 8, "5ms"),
    Point("16 servers, RTO min 5 ms: frequent short waits", 16, "5ms"),
    Point("16 servers: collapsed", 16, "200ms"),
    Point("10 servers: the knee", 10, "200ms", knee=True),
    Point("8 servers: the knee, one seed in eight fast", 8, "200ms", knee=True),
)


@dataclass(frozen=True)
class Judged:
    """The intervals at a point.

    Parameters
    ----------
    point
        The point.
    goodput
        Goodput of every seed, bit/s.
    held, width
        For each quantity and method, the share of intervals that contain the true value, and the
        intervals' median width divided by the true value. `incast` is the method of incast's
        tables.
    """

    point: Point
    goodput: NDArray[np.float64]
    held: dict[tuple[str, str], float]
    width: dict[tuple[str, str], float]

    def missed(self, margin: float) -> list[tuple[str, float]]:
        """Return the quantities whose intervals contain the true mean too rarely."""
        bar = (SEVERAL if self.point.knee else ONE_MODE) - margin
        told = ((name, self.held[name, "incast"]) for name in HELD)
        return [(name, share) for name, share in told if share < bar]


def sample(point: Point, seeds: int) -> incast.Results:
    """Run a point with many seeds."""
    return incast.run({**point.document, "run": {"seeds": seeds}})


def judge(point: Point, results: incast.Results, seeds: int) -> Judged:
    """Compute an interval from each group of `seeds` seeds, and compare it with the true mean."""
    rows = results.frame().with_columns(
        point=((pl.col("seed") - 1) // seeds).cast(pl.Int32),
        timeouts_per_block=pl.col("timeouts") / pl.col("blocks"),
    )
    blocks = results.blocks().group_by("seed", maintain_order=True).agg("completion_s")
    rows = rows.with_columns(blocks["completion_s"].alias(COMPLETIONS))
    here = results.resolved(0)
    summary = with_pooled(summarise(rows, [], lambda _: here), rows)
    held, width = {}, {}
    every = np.sort(results.blocks()["completion_s"].to_numpy())
    truths = {name: float(rows[name].to_numpy().mean()) for name in HELD}
    truths |= {name: percentile(every, PERCENTILES[name]) for name in ALSO}
    for name, truth in truths.items():
        ends = {"incast": (summary[f"{name}{LOW}"].to_numpy(), summary[f"{name}{HIGH}"].to_numpy())}
        if name in HELD:
            ends |= others(rows[name].to_numpy().reshape(-1, seeds), *possible(name, here))
        for method, (low, high) in ends.items():
            near = 1e-9 * abs(truth)  # rounding errors, if a quantity is the same in all seeds
            held[name, method] = float(np.mean((low <= truth + near) & (truth - near <= high)))
            width[name, method] = float(np.median(high - low)) / truth if truth else 0.0
    return Judged(point, rows["goodput_bps"].to_numpy(), held, width)


def others(
    values: NDArray[np.float64], lowest: float, highest: float
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return the intervals of other methods, one per row of values."""
    count = values.shape[1]
    mean = values.mean(1)
    half = stats.t.ppf(0.975, count - 1) * stats.sem(values, axis=1)
    found = {"Student": (mean - half, mean + half)}
    weights = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), _RESAMPLES)
    means = np.sort(values @ weights.T / count, axis=1)
    found["percentile bootstrap"] = tuple(np.quantile(means, (0.025, 0.975), axis=1))
    found["BCa bootstrap"] = _bca(values, means)
    if np.isfinite(highest):
        spacings = np.random.default_rng(1).dirichlet(np.ones(count + 1), 2000)
        ordered = np.sort(values, axis=1)
        down = np.column_stack([np.full(len(values), lowest), ordered]) @ spacings.T
        up = np.column_stack([ordered, np.full(len(values), highest)]) @ spacings.T
        found["Gaffke, whole range"] = (
            np.quantile(down, 0.025, axis=1),
            np.quantile(up, 0.975, axis=1),
        )
    return found


def _bca(
    values: NDArray[np.float64], means: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Efron's BCa interval; `means` are the sorted means of the resamples."""
    mean = values.mean(1, keepdims=True)
    below = ((means < mean).mean(1) + (means <= mean).mean(1)) / 2
    bias = stats.norm.ppf(below.clip(1 / _RESAMPLES, 1 - 1 / _RESAMPLES))
    off = values - mean
    cubes, squares = (off**3).sum(1), (off**2).sum(1) ** 1.5
    skew = np.divide(cubes, 6 * squares, out=np.zeros(len(values)), where=squares > 0)
    ends = []
    for z in stats.norm.ppf((0.025, 0.975)):
        share = stats.norm.cdf(bias + (bias + z) / (1 - skew * (bias + z)))
        index = (share * _RESAMPLES).astype(int).clip(0, _RESAMPLES - 1)
        ends.append(means[np.arange(len(values)), index])
    return ends[0], ends[1]
