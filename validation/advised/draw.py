"""Draws random cases: reads at link rates that two processors can handle."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Lot:
    """How the cases of a set of predictions are drawn.

    Parameters
    ----------
    seed
        Seed of the draw.
    count
        Number of predictions.
    without_sack
        Share of the reads whose hosts have no SACK.
    goal
        Goal for which fixes are chosen and judged, as in `incast advise --for`: goodput or p99.
    """

    seed: int
    count: int
    without_sack: float = 0.25
    goal: str = "goodput"


SETS = {
    "first": Lot(20261126, 24),
    "second": Lot(20261127, 24),
    # From this set on, all hosts have SACK, because the envelope of an answer excludes the others.
    "third": Lot(20261128, 24, without_sack=0.0),
    "fourth": Lot(20261129, 24, without_sack=0.0, goal="p99"),
    # This set was measured on an idle machine, after the model of Linux's sender was corrected.
    "fifth": Lot(20261130, 24, without_sack=0.0, goal="p99"),
    # This set was measured after the interval of requests was corrected.
    "sixth": Lot(20261201, 24, without_sack=0.0, goal="p99"),
}
JITTERS = {"20Mbps": "500us", "50Mbps": "200us"}
"""Maximum time between two requests, for each rate of the links."""
_SHARED = (
    {"name": "dynamic", "total": "131072B", "alpha": "2^-3"},
    {"name": "dynamic", "total": "262144B", "alpha": "2^-4"},
)


def cases(lot: Lot) -> Iterator[dict[str, Any]]:
    """Yield random scenarios without end. They have no number of blocks yet."""
    draw = random.Random(lot.seed)
    while True:
        rate = draw.choice(("20Mbps", "20Mbps", "50Mbps"))
        control = draw.choice(("cubic", "reno"))
        transport: dict[str, Any] = {
            "name": "cubic",
            "congestion_control": control,
            # The hosts share one kernel and its timer, and never send at exactly the same time.
            "timer_phase": "shared",
            "send_jitter": "30us",
        }
        if draw.random() < 0.2:
            transport["rto_min"] = "100ms"
        if draw.random() < lot.without_sack:
            transport |= {"recovery": "newreno", "sack": False}
        yield {
            "title": "Advice on real hosts",
            "profile": "linux",
            "network": {
                "rate": rate,
                "delay": draw.choice(("25us", "250us")),
                "buffer": draw.choice(("16384B", "32768B", "65536B", *_SHARED)),
            },
            "workload": {
                "name": "barrier-read",
                "servers": draw.choice((4, 6, 8, 12, 16, 20)),
                "sru": draw.choice(("16KB", "32KB", "64KB")),
                "connections": draw.choice(("persistent", "fresh")),
                "request_jitter": JITTERS[rate],
            },
            "transport": transport,
        }
