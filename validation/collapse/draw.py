"""Draws star networks and reads. Five parameters are drawn log-uniformly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

BLOCKS = 20
JITTER = "20us"

# The seeds of the scenarios: one set to develop the model, one set to judge it.
SEEDS = {"development": 1, "held-out": 2}


@dataclass(frozen=True)
class Drawn:
    """One scenario without its number of servers; sizes in bytes, rate in bit/s."""

    buffer: int
    sru: int
    rate: int
    round_trip_ns: int
    rto_min_us: int

    def document(self, servers: int, blocks: int = BLOCKS) -> dict[str, Any]:
        """Return the scenario as a document."""
        return {
            "network": {
                "rate": f"{self.rate}bps",
                "delay": f"{self.round_trip_ns // 4}ns",
                "buffer": self.buffer,
            },
            "workload": {
                "servers": servers,
                "sru": self.sru,
                "blocks": blocks,
                "connections": "persistent",
                "request_jitter": JITTER,
            },
            "transport": {"rto_min": f"{self.rto_min_us}us"},
            "run": {"seeds": 1, "time_limit": "100000s"},
        }

    def lossless(self, servers: int, blocks: int) -> dict[str, Any]:
        """Return the same read without losses and without timeouts."""
        document = self.document(servers, blocks)
        document["network"]["buffer"] = "1GiB"
        document["transport"]["rto_min"] = "60s"
        document["transport"]["rto_initial"] = "60s"
        return document


def scenarios(which: str) -> Iterator[Drawn]:
    """Yield random scenarios without end; the n-th scenario of a set is always the same."""
    rng = np.random.default_rng(SEEDS[which])
    lowest = np.array([16 * 1024, 32 * 1024, 1e9, 20e3, 1e3])
    highest = np.array([512 * 1024, 1024 * 1024, 100e9, 400e3, 200e3])
    while True:
        drawn = lowest * (highest / lowest) ** rng.random(5)
        yield Drawn(*(round(value) for value in drawn))
