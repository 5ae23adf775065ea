"""Run the scenarios of the reference data, and compare their results with those of ns-2."""

from __future__ import annotations

import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incast import _core, load
from validation.ns2.reference import Point, Row, barrier_read, one_shot

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Outcome:
    """One point, each value in ns-2 and in incast: means over the seeds, but medians for `p50`."""

    point: Point
    goodput: tuple[float, float]
    """Goodput in Mbps."""
    timeouts: tuple[float, float]
    """Timeouts per block."""
    p50: tuple[float, float]
    """Median block time in ms."""
    stalled: float
    """Share of the blocks of ns-2 that have a timeout."""

    @property
    def log_ratio(self) -> float:
        """Return ln(goodput of incast / goodput of ns-2)."""
        return math.log(self.goodput[1] / self.goodput[0])

    @property
    def p50_error(self) -> float:
        """Return the relative error of the median block time."""
        return self.p50[1] / self.p50[0] - 1

    @property
    def timeout_error(self) -> float:
        """Return the relative error of the timeouts per block."""
        return self.timeouts[1] / self.timeouts[0] - 1 if self.timeouts[0] else 0.0


def simulate(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """Run a scenario; return the row of the workload."""
    point = load(document).plan.points[0]
    row: dict[str, Any] = _core.run(point.scenario, seed)["rows"][0]
    return row


def compare(points: Iterable[Point], jobs: int) -> list[Outcome]:
    """Repeat every run of the points."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(_compare_one, points))


def _compare_one(point: Point) -> Outcome:
    if point.set == "e":
        return _one_shot(point)
    ours = [
        simulate(barrier_read(row, jittered=point.jittered), int(row["seed"])) for row in point.runs
    ]
    blocks = sum(int(row["blocks"]) for row in point.runs)
    stalled = sum(int(row["blocks_with_timeout"]) for row in point.runs)
    return Outcome(
        point,
        (_mean(point.runs, "goodput_blocks_mbps"), _mean(ours, "goodput_bps") / 1e6),
        (
            _total(point.runs, "timeouts") / blocks,
            _total(ours, "timeouts") / _total(ours, "blocks"),
        ),
        (_median(point.runs, "block_ms_p50"), _median(ours, "completion_p50_s") * 1e3),
        stalled / blocks,
    )


def _one_shot(point: Point) -> Outcome:
    ours = [simulate(one_shot(row), int(row["seed"])) for row in point.runs]
    row = point.runs[0]
    # Servers send whole segments, but the goodput of ns-2 counts only the bytes of the SRU.
    counted = int(row["sru_kb"]) * 1024 / (int(row["sru_pkts"]) * int(row["mss"]))
    return Outcome(
        point,
        (_mean(point.runs, "goodput_mbps"), _mean(ours, "goodput_bps") / 1e6 * counted),
        (_mean(point.runs, "timeouts"), _mean(ours, "timeouts")),
        (_median(point.runs, "duration_ms"), _median(ours, "completion_s") * 1e3),
        sum(int(row["timeouts"]) > 0 for row in point.runs) / len(point.runs),
    )


def _mean(rows: Iterable[Row | dict[str, Any]], column: str) -> float:
    return statistics.fmean(float(row[column] or 0) for row in rows)


def _total(rows: Iterable[Row | dict[str, Any]], column: str) -> float:
    return sum(float(row[column]) for row in rows)


def _median(rows: Iterable[Row | dict[str, Any]], column: str) -> float:
    return statistics.median(float(row[column]) for row in rows)
