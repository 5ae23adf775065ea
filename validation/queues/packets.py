"""Poisson datagrams in the packet-level engine, compared with M/G/1/K."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import incast
from incast.models.queues import MG1K, smallest_buffer
from incast.models.queues.edge import port
from incast.scenario.resolved import Resolved
from validation.queues.fluids import IDLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEEDS = 20
SECONDS = 10.0
"""Simulated seconds of a run."""
RATE = 1e9
LOADS = (0.5, 0.8, 0.95)
TARGETS = (5e-2, 5e-3)
"""Loss targets. For each target, the study uses the smallest buffer with at most this loss."""
CLASSES = 40
"""This number of different sizes approximates exponentially distributed sizes."""


def exponential_sizes(mean: float) -> list[int]:
    """Return the mean sizes of `CLASSES` equally likely parts of an exponential distribution."""
    bounds = [-math.log1p(-i / CLASSES) for i in range(CLASSES)] + [math.inf]

    def above(x: float) -> float:
        return 0.0 if math.isinf(x) else (1 + x) * math.exp(-x)

    pairs = pairwise(bounds)
    return [round(mean * CLASSES * (above(low) - above(high))) for low, high in pairs]


MIXES: dict[str, dict[int, float]] = {
    "one size": {1500: 1.0},
    "two sizes": {100: 0.5, 1500: 0.5},
    "rare giants": {300: 0.9, 9000: 0.1},
    "exponential": dict.fromkeys(exponential_sizes(1500.0), 1 / CLASSES),
}
"""For each mix of packets, the sizes in bytes, and the share of packets with each size."""


@dataclass(frozen=True)
class Quantity:
    """A quantity: the value in theory, and the mean of the runs with its standard error."""

    theory: float
    here: float
    error: float

    @property
    def agrees(self) -> bool:
        """Whether theory and runs differ by at most 2 % or three standard errors."""
        return abs(self.here - self.theory) <= max(0.02 * self.theory, 3 * self.error)


@dataclass(frozen=True)
class Point:
    """The results for one mix of packets, at one load and with one buffer."""

    mix: str
    queue: MG1K
    loss: Quantity
    waiting: Quantity
    utilization: Quantity


def scenario(mix: dict[int, float], load: float, places: int) -> incast.Scenario:
    """Return Poisson datagrams on links that are too fast to delay them, with negligible reads."""
    mean = sum(size * share for size, share in mix.items())
    tree: dict[str, Any] = {
        "network": {
            "topology": "star",
            "rate": f"{RATE:.0f}bps",
            "server_rate": "10Tbps",
            "delay": "1us",
            "buffer": f"{places}pkt",
        },
        "workload": IDLE,
        "transport": {"name": "newreno"},
        "background": [
            {
                "name": "poisson",
                "rate": f"{RATE * load * share * size / mean:.0f}bps",
                "packet_size": size,
            }
            for size, share in mix.items()
        ],
        "run": {"seeds": SEEDS, "time_limit": f"{SECONDS}s"},
    }
    return incast.load(tree)


def theory(mix: dict[int, float], load: float, places: int) -> MG1K:
    """Return the queue that the model `edge-queue` derives from the scenario."""
    queue = port(Resolved(scenario(mix, load, places).plan.points[0].resolved))
    if not isinstance(queue, MG1K):
        raise TypeError(queue.reason)
    return queue


EVERY = tuple(product(MIXES, LOADS, TARGETS))
SAMPLE = (("one size", 0.8, 5e-2), ("rare giants", 0.95, 5e-2))


def compare(jobs: int, points: Iterable[tuple[str, float, float]] = EVERY) -> Iterator[Point]:
    """Run points; a point is a mix of packets, a load, and a loss target."""
    for name, load, target in points:
        mix = MIXES[name]
        mean = sum(size * share for size, share in mix.items())
        places = smallest_buffer(theory(mix, load, 1), target)
        yield _point(name, mean, load, places, jobs)


def _point(name: str, mean: float, load: float, places: int, jobs: int) -> Point:
    queue = replace(theory(MIXES[name], load, 1), capacity=places + 1)
    frame = incast.run(scenario(MIXES[name], load, places), jobs=jobs).frame()
    if set(frame["status"]) != {"time-limit"}:
        raise RuntimeError(f"{name}, load {load}: {set(frame['status'])}")

    def quantity(expected: float, column: str, unit: float = 1.0) -> Quantity:
        values = [value / unit for value in frame[column]]
        error = statistics.stdev(values) / math.sqrt(len(values))
        return Quantity(expected, statistics.mean(values), error)

    return Point(
        name,
        queue,
        quantity(queue.blocking, "drop_ratio"),
        # A packet's wait does not depend on its size: waiting packets = waiting bytes / mean size.
        quantity(queue.mean_waiting, "queue_mean_bytes", mean),
        quantity(1 - float(queue.pmf[0]), "link_utilization"),
    )
