"""The cases, drawn by a seed: reads at rates with which two processors keep up."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Lot:
    """What a set of predictions is drawn from.

    Parameters
    ----------
    seed
        Of the draw.
    count
        Predictions.
    without_sack
        Share of the reads whose hosts have no SACK.
    goal
        What the fixes are chosen for and measured by, as in `incast advise --for`: goodput or p99.
    """

    seed: int
    count: int
    without_sack: float = 0.25
    goal: str = "goodput"


SETS = {
    "first": Lot(20261126, 24),
    "second": Lot(20261127, 24),
    # Of reads without SACK, the envelope of an answer says that they are outside.
    "third": Lot(20261128, 24, without_sack=0.0),
    "fourth": Lot(20261129, 24, without_sack=0.0, goal="p99"),
    # On an idle machine, with the sender of Linux as it was mended meanwhile.
    "fifth": Lot(20261130, 24, without_sack=0.0, goal="p99"),
}
JITTERS = {"20Mbps": "500us", "50Mbps": "200us"}
"""Time between two requests, at most, by the rate of the links."""
_SHARED = (
    {"name": "dynamic", "total": "131072B", "alpha": "2^-3"},
    {"name": "dynamic", "total": "262144B", "alpha": "2^-4"},
)


def cases(lot: Lot) -> Iterator[dict[str, Any]]:
    """Draw scenarios without a number of blocks, without end."""
    draw = random.Random(lot.seed)
    while True:
        rate = draw.choice(("20Mbps", "20Mbps", "50Mbps"))
        control = draw.choice(("cubic", "reno"))
        transport: dict[str, Any] = {
            "name": "cubic",
            "congestion_control": control,
            # The hosts have one kernel, and never send at exactly the same time.
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
