"""The ns-3 data, and the scenarios that repeat its runs."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .compare import simulate

FILE = Path(__file__).parent.parent / "reference" / "ns3" / "ns3.csv"
REQUEST_S = 2 * (25e-6 + 42 * 8e-9)
"""What a request takes on an idle path: here the client asks, there the server just connects."""
SEEDS = 20
"""Points with fewer are shown and not judged."""

Key = tuple[str, bool, int, float, int]


@dataclass(frozen=True)
class Side:
    """The runs of one simulator: means, and the standard error of the goodput."""

    goodput: float
    error: float
    timeouts: float
    """Of data."""
    fast: float
    drops: float


@dataclass(frozen=True)
class Point:
    """One point on both sides."""

    name: str
    sru: int
    rto_min: float
    servers: int
    seeds: int
    ns3: Side
    here: Side
    lost_handshakes: float
    """Timeouts of SYNs per run, here."""

    @property
    def log_ratio(self) -> float:
        """Return ln(goodput here / ns-3)."""
        return math.log(self.here.goodput / self.ns3.goodput)

    @property
    def distance(self) -> float:
        """Return the difference in standard errors."""
        error = math.hypot(self.ns3.error, self.here.error)
        return abs(self.here.goodput - self.ns3.goodput) / error if error else math.inf

    @property
    def agrees(self) -> bool:
        """Whether it is within 0.15 or two standard errors."""
        return abs(self.log_ratio) <= 0.15 or self.distance <= 2

    @property
    def flag(self) -> str:
        """Which mistake of ns-3 rules here, if one does."""
        if self.name == "DCTCP" and self.here.drops > 0:
            return "CWR"
        if self.lost_handshakes > self.servers / 2:
            return "SYN"
        return ""


def compare(jobs: int) -> list[Point]:
    """Repeat every run."""
    runs: dict[Key, list[dict[str, str]]] = defaultdict(list)
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            key = (
                row["cc"],
                row["sack"] == "1",
                int(row["sru_bytes"]),
                float(row["rtomin_ms"]),
                int(row["N"]),
            )
            runs[key].append(row)
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda item: _point(*item), sorted(runs.items())))


def _point(key: Key, rows: list[dict[str, str]]) -> Point:
    cc, sack, sru, rto_min, servers = key
    ours = [simulate(scenario(key), int(row["seed"])) for row in rows]
    name = "DCTCP" if cc == "Dctcp" else "NewReno, SACK" if sack else "NewReno"

    def mean(column: str) -> float:
        return statistics.fmean(float(row[column]) for row in rows)

    def mean_here(column: str) -> float:
        return statistics.fmean(row[column] for row in ours)

    theirs = [float(row["goodput_mbps"]) for row in rows]
    here = [row["bytes"] * 8e-6 / (row["elapsed_s"] - REQUEST_S) for row in ours]
    handshakes = mean_here("timeouts_handshake")
    return Point(
        name,
        sru,
        rto_min,
        servers,
        len(rows),
        Side(
            statistics.fmean(theirs),
            _error(theirs),
            mean("timeouts"),
            mean("fast_recoveries"),
            mean("bneck_drops"),
        ),
        Side(
            statistics.fmean(here),
            _error(here),
            mean_here("timeouts") - handshakes,
            mean_here("fast_retransmits"),
            mean_here("drops"),
        ),
        handshakes,
    )


def _error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def scenario(key: Key) -> dict[str, Any]:
    """Return the scenario of a point."""
    cc, sack, sru, rto_min, servers = key
    rto = f"{rto_min}ms"
    # The queue stops while less than an MTU is free: 66 packets of 1502 bytes.
    network: dict[str, Any] = {"buffer": "66pkt"}
    if cc == "Dctcp":
        # The queue disc and the packet in the device's own queue; RED marks from MinTh on.
        queue = {"name": "ecn-threshold", "threshold": "31499B"}
        network = {"buffer": "101500B", "queue": queue}
    return {
        "profile": "ns3",
        "network": network,
        "workload": {
            "name": "barrier-read",
            "servers": servers,
            "sru": f"{sru}B",
            "request_jitter": "20us",
        },
        "transport": {
            "name": "dctcp" if cc == "Dctcp" else "sack" if sack else "newreno",
            "rto_min": rto,
            "rto_initial": rto,
            "syn_rto": rto,
            "rto_after_syn_loss": rto,
        },
        "run": {"time_limit": "200s"},
    }
