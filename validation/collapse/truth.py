"""Finds by simulation the first number of servers at which a read collapses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from incast import _core, load
from incast.collapse import LEAST_SHARE, LEAST_TIMEOUTS
from incast.results.collapse import at_points
from incast.scenario.lossless import lossless_goodput
from incast.scenario.resolved import Resolved
from validation.collapse.draw import BLOCKS, Drawn

MOST_SERVERS = 256

# All numbers up to 12, then each number a quarter larger than the one before.
GRID = [*range(2, 13)]
while GRID[-1] < MOST_SERVERS:
    GRID.append(min(MOST_SERVERS, round(GRID[-1] * 1.25)))

_MEANT = (
    "goodput_bps", "elapsed_s", "blocks", "timeouts", "timeouts_handshake", "stalls_tail_probe",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The result for one number of servers: means over the seeds, goodput in bit/s."""

    servers: int
    goodput: float
    timeouts: float
    collapsed: bool


def search(drawn: Drawn, first_seed: int = 1) -> int | None:
    """Return the collapse point, or None if nothing collapses; the seeds begin at `first_seed`.

    The search tries the numbers of the grid in ascending order until the first collapse. Then it
    bisects between this number and the previous number, until the collapse point is known to 3 %.
    """
    before = 1
    for servers in GRID:
        if is_collapsed(drawn, servers, first_seed):
            break
        before = servers
    else:
        return None
    collapse = servers
    while collapse - before > max(1, 0.03 * collapse):
        middle = (before + collapse) // 2
        if is_collapsed(drawn, middle, first_seed):
            collapse = middle
        else:
            before = middle
    return collapse


def simulate(drawn: Drawn, servers: int, first_seed: int = 1) -> Outcome:
    """Run one number of servers with 24 seeds, or with fewer seeds if there are many servers."""
    point = _point(drawn, servers)
    mean = _mean(list(_rows(point, _seeds(servers, first_seed))))
    return Outcome(
        servers, mean["goodput_bps"], mean["timeouts"] / BLOCKS, _is_collapse(mean, point)
    )


def is_collapsed(drawn: Drawn, servers: int, first_seed: int = 1) -> bool:
    """Return whether the means of `simulate` are a collapse; skip runs that cannot change this."""
    point, seeds = _point(drawn, servers), _seeds(servers, first_seed)
    enough = LEAST_SHARE * lossless_goodput(point) * len(seeds)
    rows: list[dict[str, float]] = []
    for row in _rows(point, seeds):
        rows.append(row)
        goodput = sum(each["goodput_bps"] for each in rows)
        if goodput >= enough:
            return False
        at_most = goodput + drawn.rate * (len(seeds) - len(rows))
        timeouts = sum(each["timeouts"] for each in rows)
        if at_most < enough and timeouts >= LEAST_TIMEOUTS * BLOCKS * len(seeds):
            return True
    return _is_collapse(_mean(rows), point)


def _seeds(servers: int, first: int) -> range:
    return range(first, first + max(1, min(24, 240 // servers)))


def _point(drawn: Drawn, servers: int) -> Resolved:
    return Resolved(load(drawn.document(servers)).plan.points[0].resolved)


def _mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) / len(rows) for name in _MEANT}


def _is_collapse(mean: dict[str, float], point: Resolved) -> bool:
    """Judge the means like a point of a summary of incast."""
    return at_points(pl.DataFrame([{"point": 0, **mean}]), lambda _: point)[0]


def _rows(point: Resolved, seeds: Iterable[int]) -> Iterator[dict[str, float]]:
    scenario = _core.Scenario(json.dumps(point.tree))
    for seed in seeds:
        row = _core.run(scenario, seed)["rows"][0]
        if row["status"] != "ok":
            raise RuntimeError(f"{point.tree}: {row['status']}")
        yield {name: float(row[name]) for name in _MEANT}
