"""Runs ns-2 and incast on the same star, for each transport."""

from __future__ import annotations

import math
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from validation.ns2.compare import simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

SCRIPT = Path(__file__).parent / "ns2_transports.tcl"
AGENTS = {
    "tahoe": "TCP",
    "reno": "TCP/Reno",
    "newreno": "TCP/Newreno",
    "sack": "TCP/Sack1",
    "vegas": "TCP/Vegas",
}
STARS = ((32, 64), (32, 256), (64, 256))
"""Pairs of a buffer in packets and an SRU in KiB."""
SERVERS = (2, 4, 8, 16, 32, 48)
SEEDS = 3
VEGAS_SERVERS = (2, 4, 6, 8, 10, 12, 16, 32, 48)
"""Vegas has more points up to 16 servers, because with more servers most runs of ns-2's Vegas
hang."""
VEGAS_SEEDS = 6
"""Vegas has more seeds, because its first stall is random, and then it stalls in every block."""
SECONDS = 20
BYTES = 3e8
"""Number of bytes after which ns-2 stops, so that runs without stalls do not take minutes."""


@dataclass(frozen=True)
class Case:
    """One point: a transport on a star with a number of servers."""

    transport: str
    buffer: int
    sru: int
    servers: int

    @property
    def block(self) -> int:
        """Bytes of a block."""
        return self.servers * self.sru * 1024

    @property
    def seeds(self) -> range:
        """The seeds of the case's runs."""
        return range(1, 1 + (VEGAS_SEEDS if self.transport == "vegas" else SEEDS))

    @property
    def star(self) -> str:
        """Name of the case's curve."""
        return f"{self.buffer} packets, {self.sru} KB"


@dataclass(frozen=True)
class Side:
    """The results of one simulator, over all its runs of a case."""

    goodput: float
    """Mean goodput in Mbps."""
    timeouts: float
    """Timeouts per block."""
    p50: float
    """The median block time of each run in ms; the median over the runs."""
    stalled: float = 0.0
    """Share of blocks with a timeout."""
    hung: int = 0
    """Number of runs in which a sender ended with a window of 0."""
    runs: int = 0


@dataclass(frozen=True)
class Pair:
    """One point, with the results of ns-2 and of incast."""

    case: Case
    ns2: Side
    here: Side

    @property
    def log_ratio(self) -> float:
        """Return ln(goodput of incast / goodput of ns-2)."""
        return math.log(self.here.goodput / self.ns2.goodput)

    @property
    def p50_error(self) -> float:
        """Return the relative error of the median block time."""
        return self.here.p50 / self.ns2.p50 - 1

    @property
    def flagged(self) -> bool:
        """Whether a sender hung in more than half of the runs of ns-2."""
        return 2 * self.ns2.hung > self.ns2.runs


EVERY = tuple(
    Case(transport, buffer, sru, servers)
    for transport in AGENTS
    for buffer, sru in STARS
    for servers in (VEGAS_SERVERS if transport == "vegas" else SERVERS)
)
SAMPLE = tuple(it for it in EVERY if it.servers == 16 and it.buffer == 32 and it.sru == 64)
"""Collapsed points, whose results differ little between seeds. Vegas is not judged if it hangs."""


def compare(jobs: int, cases: Iterable[Case] = EVERY) -> list[Pair]:
    """Run the points in ns-2 and in incast."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda case: Pair(case, _ns2(case), _here(case)), cases))


def _ns2(case: Case) -> Side:
    runs = []
    for seed in case.seeds:
        values = (case.servers, case.buffer, case.sru, seed, SECONDS, max(1, BYTES // case.block))
        command = ["ns", str(SCRIPT), AGENTS[case.transport], *(f"{value:.0f}" for value in values)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        runs.append([float(word) for word in output.split()])
    # The results of a run in which a sender hung are not reliable.
    sound = [run for run in runs if run[7] == 0] or runs
    blocks, ended, stalled, timeouts, _, _, p50, _ = zip(*sound, strict=True)
    total = max(sum(blocks), 1)
    rates = [
        n * case.block * 8e-6 / time if time else 0.0 for n, time in zip(blocks, ended, strict=True)
    ]
    return Side(
        statistics.fmean(rates),
        sum(timeouts) / total,
        statistics.median(p50) * 1e3,
        sum(stalled) / total,
        sum(run[7] > 0 for run in runs),
        len(runs),
    )


def _here(case: Case) -> Side:
    document: dict[str, Any] = {
        "profile": "ns2",
        "network": {"buffer": f"{case.buffer}pkt"},
        "workload": {
            "name": "barrier-read",
            "servers": case.servers,
            "sru": f"{case.sru}KiB",
            "duration": f"{SECONDS}s",
            "connections": "persistent",
            "request_jitter": "20us",
        },
        "transport": {"name": case.transport, "send_jitter": "8us"},
        "run": {"time_limit": f"{SECONDS}s"},
    }
    rows = [simulate(document, seed) for seed in case.seeds]
    return Side(
        statistics.fmean((row["goodput_bps"] or 0) / 1e6 for row in rows),
        sum(row["timeouts"] for row in rows) / max(sum(row["blocks"] for row in rows), 1),
        statistics.median((row["completion_p50_s"] or 0) * 1e3 for row in rows),
    )
