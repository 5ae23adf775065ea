"""The ns-3 data, and the scenarios that repeat its runs."""

from __future__ import annotations

import csv
import math
import statistics
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from validation.common.places import REFERENCE
from validation.ns2.compare import simulate

FILE = REFERENCE / "ns3" / "ns3.csv"
REQUEST_S = 2 * (25e-6 + 42 * 8e-9)
"""The time of a request on an idle path. It is subtracted from incast's times, because incast's
client sends requests; in ns-3, the servers connect and send at once."""
SEEDS = 20
"""Points with fewer seeds are shown on the page, but not judged."""

NAMES = ("NewReno", "NewReno, mended", "NewReno, SACK", "CUBIC, SACK", "DCTCP, mended")
"""The compared configurations: congestion control, SACK on or off, and whether a mistake of ns-3 is
mended.

The mistakes are mended because otherwise they would dominate the numbers."""


class Key(NamedTuple):
    """The parameters of a point, which all its runs have."""

    cc: str
    sack: bool
    mended: str
    initial_window: int
    sru: int
    rto_min: float
    servers: int

    @property
    def name(self) -> str:
        """Return the name of the configuration."""
        cc = {"Dctcp": "DCTCP", "Cubic": "CUBIC"}.get(self.cc, self.cc)
        if self.mended:
            return f"{cc}, mended"
        return f"{cc}, SACK" if self.sack else cc

    @property
    def is_in_a_quick_look(self) -> bool:
        """Whether `--quick` includes the point."""
        return (self.sru, self.rto_min) == (65536, 10) and self.servers in {8, 16, 24}


@dataclass(frozen=True)
class Side:
    """The results of one simulator: means over the runs, and the standard error of the goodput."""

    goodput: float
    error: float
    timeouts: float
    """Timeouts of data per run; timeouts of handshakes do not count."""
    fast: float
    drops: float


@dataclass(frozen=True)
class Point:
    """One point, with the results of ns-3 and of incast."""

    key: Key
    seeds: int
    ns3: Side
    here: Side
    lost_handshakes: float
    """Timeouts of handshakes per run in incast."""

    @property
    def log_ratio(self) -> float:
        """Return ln(goodput of incast / goodput of ns-3)."""
        return math.log(self.here.goodput / self.ns3.goodput)

    @property
    def distance(self) -> float:
        """Return the difference of the goodputs in standard errors."""
        error = math.hypot(self.ns3.error, self.here.error)
        return abs(self.here.goodput - self.ns3.goodput) / error if error else math.inf

    @property
    def agrees(self) -> bool:
        """Whether |ln goodput ratio| is at most 0.15, or `distance` at most two standard errors."""
        return abs(self.log_ratio) <= 0.15 or self.distance <= 2

    @property
    def flag(self) -> str:
        """The mistake of ns-3 that dominates the point, or an empty string."""
        if self.key.cc == "Dctcp" and self.here.fast > 2 * self.ns3.fast:
            return "CWR"
        if self.lost_handshakes > self.key.servers / 2:
            return "SYN"
        return ""


def compare(jobs: int, *, quick: bool = False) -> list[Point]:
    """Repeat every run, or the runs of a few points."""
    runs: dict[Key, list[dict[str, str]]] = defaultdict(list)
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            key = Key(
                row["cc"],
                row["sack"] == "1",
                row["mended"],
                int(row["iw"]),
                int(row["sru_bytes"]),
                float(row["rtomin_ms"]),
                int(row["N"]),
            )
            if key.name in NAMES and (key.is_in_a_quick_look or not quick):
                runs[key].append(row)
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda item: _point(*item), sorted(runs.items())))


def _point(key: Key, rows: list[dict[str, str]]) -> Point:
    ours = [simulate(scenario(key), int(row["seed"])) for row in rows]

    def mean(column: str) -> float:
        return statistics.fmean(float(row[column]) for row in rows)

    def mean_here(column: str) -> float:
        return statistics.fmean(row[column] for row in ours)

    theirs = [float(row["goodput_mbps"]) for row in rows]
    here = [row["bytes"] * 8e-6 / (row["elapsed_s"] - REQUEST_S) for row in ours]
    handshakes = mean_here("timeouts_handshake")
    return Point(
        key,
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


def _transport(key: Key) -> str:
    if key.cc == "NewReno":
        return "sack" if key.sack else "newreno"
    return key.cc.lower()


def _error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values))


def scenario(key: Key) -> dict[str, Any]:
    """Return the scenario of a point."""
    rto = f"{key.rto_min}ms"
    # The queue accepts a packet only if an MTU is free, so it holds 66 packets of 1502 bytes.
    network: dict[str, Any] = {"buffer": "66pkt"}
    if key.cc == "Dctcp":
        # The buffer is the queue disc and a packet in the device queue. RED marks from `MinTh` on.
        queue = {"name": "ecn-threshold", "threshold": "31499B"}
        network = {"buffer": "101500B", "queue": queue}
    return {
        "profile": "ns3",
        "network": network,
        "workload": {
            "name": "barrier-read",
            "servers": key.servers,
            "sru": f"{key.sru}B",
            "request_jitter": "20us",
        },
        "transport": {
            "name": _transport(key),
            "initial_window": key.initial_window,
            "rto_min": rto,
            "rto_initial": rto,
            "syn_rto": rto,
            "rto_after_syn_loss": rto,
        },
        "run": {"time_limit": "200s"},
    }
