"""Finds by simulation the first number of servers at which a read collapses."""

from __future__ import annotations

import json
from dataclasses import dataclass

from collapse.draw import BLOCKS, Drawn
from incast import _core, load
from incast.collapse import LEAST_TIMEOUTS, collapsed

MOST_SERVERS = 256

# All numbers up to 12, then steps of a quarter.
GRID = [*range(2, 13)]
while GRID[-1] < MOST_SERVERS:
    GRID.append(min(MOST_SERVERS, round(GRID[-1] * 1.25)))


@dataclass(frozen=True)
class Outcome:
    """What was simulated at one number of servers: means over the seeds, rates in bit/s."""

    servers: int
    goodput: float
    lossless: float
    timeouts: float

    @property
    def collapsed(self) -> bool:
        """Whether it has collapsed, with a timeout in every other block."""
        enough = self.timeouts >= LEAST_TIMEOUTS
        return enough and bool(collapsed(self.goodput, self.lossless, 1.0, self.timeouts, 0.0))


def search(drawn: Drawn, first_seed: int = 1) -> int | None:
    """Return the collapse point, or None, by the seeds from `first_seed` on.

    The grid is walked upwards to the first collapse; between that and the number before it,
    halving finds the first to 3 %.
    """
    before = 1
    for servers in GRID:
        if simulate(drawn, servers, first_seed).collapsed:
            break
        before = servers
    else:
        return None
    collapse = servers
    while collapse - before > max(1, 0.03 * collapse):
        middle = (before + collapse) // 2
        if simulate(drawn, middle, first_seed).collapsed:
            collapse = middle
        else:
            before = middle
    return collapse


def simulate(drawn: Drawn, servers: int, first_seed: int = 1) -> Outcome:
    """Run one number of servers: at twelve seeds where few servers time out, else at fewer."""
    seeds = range(first_seed, first_seed + max(1, min(12, 120 // servers)))
    rows = [_run(drawn.document(servers), seed) for seed in seeds]
    return Outcome(
        servers,
        sum(row["goodput_bps"] for row in rows) / len(rows),
        lossless(drawn, servers),
        sum(row["timeouts"] for row in rows) / len(rows) / BLOCKS,
    )


def lossless(drawn: Drawn, servers: int) -> float:
    """Return the goodput without losses, bit/s.

    All blocks but the first, the longest, are alike: where they are long, few are enough.
    """
    blocks = min(BLOCKS, max(3, 200 // servers))
    row = _run(drawn.lossless(servers, blocks), 1)
    if row["timeouts"] or row["drops"]:
        raise RuntimeError(f"{drawn}: losses where there should be none")
    elapsed = row["elapsed_s"] + row["completion_p50_s"] * (BLOCKS - blocks)
    return float(row["bytes"] / blocks * BLOCKS * 8 / elapsed)


def _run(document: dict[str, object], seed: int) -> dict[str, float]:
    point = load(document).plan.points[0]
    row = _core.run(json.dumps(point.resolved), seed)["rows"][0]
    if row["status"] != "ok":
        raise RuntimeError(f"{document}: {row['status']}")
    return dict(row)
