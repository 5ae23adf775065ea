"""`p = "auto"` of `prob-rtx` beside given p, on Kulkarni and Agrawal's star."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

import incast
from incast.results.statistics import half_width

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVERS = (2, 4, 8, 12, 16, 24, 32, 48)
GIVEN = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
READINGS: dict[str, dict[str, str]] = {
    "head, at once": {"copy": "head", "resumes": "at-once"},
    "highest, after recovery": {"copy": "highest", "resumes": "after-recovery"},
}
SEEDS = (101, 102, 103, 104, 105)
"""Not those on which the rule was chosen, 1 to 5."""
TOLERANCE = 0.05

STAR: dict[str, Any] = {
    "profile": "ns2",
    "network": {"topology": "star", "rate": "1Gbps", "delay": "50us", "buffer": "32pkt"},
    "workload": {
        "name": "barrier-read",
        "servers": 8,
        "sru": "256KiB",
        "connections": "persistent",
        "request_jitter": "20us",
    },
    "transport": {
        "name": "newreno",
        "receive_window": "1000pkt",
        "rto_min": "200ms",
        "send_jitter": "8us",
    },
}
"""Table 3.1 of Kulkarni and Agrawal 2014, and what `papers/kulkarni/base.toml` adds."""


def seconds(servers: int) -> int:
    """Return what is simulated; many servers lose SYNs, and so the first 3 s."""
    return 1 if servers <= 32 else 5


@dataclass(frozen=True)
class Point:
    """One number of servers: goodput by seed, Mbps."""

    reading: str
    servers: int
    given: dict[float, list[float]]
    auto: list[float]

    @property
    def best(self) -> float:
        """The given p with the largest mean."""
        return max(self.given, key=lambda p: statistics.mean(self.given[p]))

    @property
    def behind(self) -> float:
        """How much more the best given p has than auto, Mbps; the mean of paired differences."""
        return statistics.mean(self._differences())

    @property
    def interval(self) -> float:
        """Half the width of the 95 % interval of `behind`, Mbps."""
        differences = self._differences()
        return half_width(statistics.stdev(differences), len(differences))

    @property
    def share(self) -> float:
        """`behind` over the goodput of the best given p."""
        return self.behind / statistics.mean(self.given[self.best])

    @property
    def is_close(self) -> bool:
        """Whether auto is less than the tolerance behind."""
        return self.share <= TOLERANCE

    @property
    def is_undecided(self) -> bool:
        """Whether the interval of the paired differences reaches zero."""
        return self.behind <= self.interval

    def _differences(self) -> list[float]:
        return [best - auto for best, auto in zip(self.given[self.best], self.auto, strict=True)]


def compare(jobs: int) -> Iterator[Point]:
    """Run every point."""
    for reading, keys in READINGS.items():
        for servers in SERVERS:
            goodput = _goodput(keys, servers, jobs)
            auto = goodput.pop("auto")
            yield Point(reading, servers, {float(p): them for p, them in goodput.items()}, auto)


def _goodput(keys: dict[str, str], servers: int, jobs: int) -> dict[str, list[float]]:
    workload = {**STAR["workload"], "servers": servers, "duration": f"{seconds(servers)}s"}
    remedies = [[{"name": "prob-rtx", "p": p, **keys}] for p in (*GIVEN, "auto")]
    tree = {
        **STAR,
        "workload": workload,
        "run": {"seeds": list(SEEDS)},
        "sweep": {"transport.remedies": remedies},
    }
    frame = incast.run(incast.load(tree), jobs=jobs).frame().sort("seed")
    rows = frame.filter(pl.col("status") == "ok").iter_rows(named=True)
    goodput: dict[str, list[float]] = {}
    for row in rows:
        p = str(json.loads(row["transport.remedies"])[0]["p"])
        goodput.setdefault(p, []).append(row["goodput_bps"] / 1e6)
    if any(len(them) != len(SEEDS) for them in goodput.values()):
        raise RuntimeError(f"{servers} servers: {set(frame['status'])}")
    return goodput
