"""The remedies' `auto` compared with given parameters, on Kulkarni and Agrawal's star."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

import incast
from incast.results.statistics import half_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SERVERS = (2, 4, 8, 12, 16, 24, 32, 48)
SEEDS = (101, 102, 103, 104, 105)
"""The seeds of this study. The rules were chosen with other seeds, 1 to 5."""
TOLERANCE = 0.05

STAR: dict[str, Any] = {
    "profile": "ns2",
    "network": {"topology": "star", "rate": "1Gbps", "delay": "50us"},
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
"""Table 3.1 of Kulkarni and Agrawal (2014), with the additions of `papers/kulkarni/base.toml`."""

Remedies = list[Any]
"""A value of `transport.remedies`."""


@dataclass(frozen=True)
class Reading:
    """A reading of a remedy: its version with `auto`, and those with fixed values, by label."""

    name: str
    keys: str
    """The parameters whose values the labels give."""
    buffer: str
    seconds: int
    given: dict[str, Remedies]
    auto: Remedies


def _copies(name: str, **keys: str) -> Reading:
    def remedy(p: float | str) -> Remedies:
        return [{"name": "prob-rtx", "p": p, **keys}]

    given = {f"{p:g}": remedy(p) for p in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)}
    return Reading(f"prob-rtx: {name}", "p", "32pkt", 1, given, remedy("auto"))


MSS_DSR = (50, 100, 200, 400)
CWND_DSR = (50, 100, 200)
LITERAL = {"unit": "bytes", "begins": "connection"}
"""The rules were found with windows in bytes, and with small segments once per connection."""


def _segments(name: str, *beside: str) -> Reading:
    def remedy(mss: int | str, cwnd: int | str) -> Remedies:
        return [{"name": "resize", "mss_dsr": mss, "cwnd_dsr": cwnd, **LITERAL}, *beside]

    given = {f"{mss}/{cwnd}": remedy(mss, cwnd) for mss in MSS_DSR for cwnd in CWND_DSR}
    keys = "mss_dsr/cwnd_dsr"
    return Reading(f"resize: {name}", keys, "32KiB", 2, given, remedy("auto", "auto"))


COPIES = (
    _copies("head, at once", copy="head", resumes="at-once"),
    _copies("highest, after recovery", copy="highest", resumes="after-recovery"),
)
SEGMENTS = (
    _segments("compressed headers", "header-compression"),
    _segments("full headers"),
)
READINGS = (*COPIES, *SEGMENTS)


def seconds(reading: Reading, servers: int) -> int:
    """Return the simulated seconds; 48 servers need more, because lost SYNs take the first 3 s."""
    return 5 if servers == 48 and reading in COPIES else reading.seconds


@dataclass(frozen=True)
class Point:
    """The goodput of each seed at one number of servers, Mbps."""

    reading: Reading
    servers: int
    given: dict[str, list[float]]
    auto: list[float]

    @property
    def best(self) -> str:
        """Label of the fixed values with the highest mean goodput."""
        return max(self.given, key=lambda label: statistics.mean(self.given[label]))

    @property
    def behind(self) -> float:
        """Goodput of the best fixed values minus the goodput of auto, Mbps; mean over the seeds."""
        return statistics.mean(self._differences())

    @property
    def interval(self) -> float:
        """Half the width of the 95 % interval of `behind`, Mbps."""
        differences = self._differences()
        return half_width(statistics.stdev(differences), len(differences))

    @property
    def share(self) -> float:
        """`behind` divided by the goodput of the best fixed values."""
        return self.behind / statistics.mean(self.given[self.best])

    @property
    def is_close(self) -> bool:
        """Whether auto is behind by less than the tolerance."""
        return self.share <= TOLERANCE

    @property
    def is_undecided(self) -> bool:
        """Whether the interval of the paired differences reaches zero."""
        return self.behind <= self.interval

    def _differences(self) -> list[float]:
        return [best - auto for best, auto in zip(self.given[self.best], self.auto, strict=True)]


EVERY = tuple(product(READINGS, SERVERS))
SAMPLE = ((COPIES[0], 8),)


def compare(jobs: int, points: Iterable[tuple[Reading, int]] = EVERY) -> Iterator[Point]:
    """Run points; a point is a reading and a number of servers."""
    for reading, servers in points:
        goodput = _goodput(reading, servers, jobs)
        auto = goodput.pop("auto")
        yield Point(reading, servers, goodput, auto)


def _goodput(reading: Reading, servers: int, jobs: int) -> dict[str, list[float]]:
    rows = {**reading.given, "auto": reading.auto}
    workload = {**STAR["workload"], "servers": servers, "duration": f"{seconds(reading, servers)}s"}
    tree = {
        **STAR,
        "network": {**STAR["network"], "buffer": reading.buffer},
        "workload": workload,
        "run": {"seeds": list(SEEDS)},
        "sweep": {"transport.remedies": list(rows.values())},
    }
    frame = incast.run(incast.load(tree), jobs=jobs).frame().sort("seed")
    done = list(frame.filter(pl.col("status") == "ok").iter_rows(named=True))
    goodput = {
        label: [
            row["goodput_bps"] / 1e6
            for row in done
            if json.loads(row["transport.remedies"]) == remedies
        ]
        for label, remedies in rows.items()
    }
    if any(len(them) != len(SEEDS) for them in goodput.values()):
        raise RuntimeError(f"{servers} servers: {set(frame['status'])}")
    return goodput
