"""Draws star networks, reads and background traffic. Six parameters are drawn log-uniformly."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import incast
from incast import Scenario
from validation.common.places import ROOT

REMEDIES = ROOT / "scenarios" / "remedies.toml"

SEED = 2026
BLOCKS = 4
GIVEN_UP = 2.5
"""A run is stopped after this many ideal completion times, because it has missed all levels."""

# The drawn parameters, each with its smallest and its largest value, and the range as text for the
# page.
RANGES = {
    "buffer": (32 * 1024, 1024 * 1024, "32 KiB to 1 MiB"),
    "sru": (8 * 1024, 512 * 1024, "8 to 512 KiB"),
    "rate": (1e9, 40e9, "1 to 40 Gbps"),
    "round_trip_ns": (20e3, 200e3, "20 to 200 us"),
    "servers": (2, 128, "2 to 128"),
    "background_permille": (10, 300, "1 to 30 %"),
}

MARK_PACKETS = 20
PACKET = 1500


@dataclass(frozen=True)
class Drawn:
    """One scenario; sizes in bytes, rate in bit/s."""

    buffer: int
    sru: int
    rate: int
    round_trip_ns: int
    servers: int
    background_permille: int

    def scenario(self) -> Scenario:
        """Return `scenarios/remedies.toml`, which has a point per remedy, with the drawn values."""
        scenario = incast.load(REMEDIES)
        for key, value in {
            "network.buffer": self.buffer,
            "network.rate": f"{self.rate}bps",
            "network.delay": f"{self.round_trip_ns // 4}ns",
            "workload.sru": self.sru,
            "workload.servers": self.servers,
            "workload.blocks": BLOCKS,
            "background": [{"name": "poisson", "rate": f"{self.background}bps"}],
            "run.seeds": 1,
        }.items():
            scenario = scenario.override(key, value)
        return self._with_marks(scenario)

    @property
    def background(self) -> int:
        """Rate of the background traffic on the client's link, bit/s."""
        return self.rate * self.background_permille // 1000

    @property
    def bandwidth_delay(self) -> float:
        """Bandwidth-delay product of the path, bytes."""
        return self.rate * self.round_trip_ns / 8e9

    def _with_marks(self, scenario: Scenario) -> Scenario:
        """Set the marking threshold to K = C·RTT/7, but at least 20 packets.

        C·RTT/7 is the smallest K with which DCTCP keeps a link busy (Alizadeh et al. 2010). 20
        packets are the paper's value for 1 Gbps.
        """
        threshold = max(MARK_PACKETS, round(self.bandwidth_delay / 7 / PACKET))
        queues: list[Any] = []
        for point in scenario.plan.points:
            queue = dict(point.resolved["network"]["queue"])
            if queue["name"] == "ecn-threshold":
                queue["threshold"] = f"{threshold}pkt"
            queues.append(queue)
        pairs = scenario.document["sweep"]["zip"]
        return scenario.override("sweep.zip", [{**pairs[0], "network.queue": queues}, *pairs[1:]])


def scenarios() -> Iterator[Drawn]:
    """Yield random scenarios without end; the n-th scenario is always the same."""
    rng = np.random.default_rng(SEED)
    lowest, highest = (np.array([span[end] for span in RANGES.values()]) for end in (0, 1))
    while True:
        drawn = lowest * (highest / lowest) ** rng.random(len(RANGES))
        yield Drawn(*(round(value) for value in drawn))
