"""Scenarios for the simulator. Captures of other networks are made from their packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

    from validation.captures.scenarios import Document

PROFILES = ("lab", "rfc", "linux", "linux-dctcp")
_TRANSPORTS = {
    "lab": ("newreno", "reno", "sack", "cubic"),
    "rfc": ("newreno", "sack"),
    "linux": ("cubic",),
    "linux-dctcp": ("dctcp",),
}


def incast(random: Random) -> Document:
    """Return synchronised reads through a small buffer."""
    profile = random.choice(PROFILES)
    workload = {
        "servers": random.choice((8, 12, 16, 24, 32, 40)),
        "sru": random.choice(("16KiB", "32KiB")),
        "blocks": random.choice((2, 3)),
        "connections": random.choice(("fresh", "persistent")),
        "request_jitter": random.choice(("0s", "5us", "20us")),
    }
    transport: Document = {
        "name": random.choice(_TRANSPORTS[profile]),
        "timestamps": random.random() < 0.5,
    }
    if random.random() < 0.2:
        transport["rto_min"] = random.choice(("50ms", "1s"))
    return _document(
        profile, random, random.choice(("12KiB", "16KiB", "32KiB")), workload, transport
    )


def healthy(random: Random) -> Document:
    """Return the same reads through a deep buffer."""
    tree = incast(random)
    tree["network"]["buffer"] = "16MiB"
    return tree


def small_windows(random: Random) -> Document:
    """Return reads of many servers with small windows, through an even smaller buffer."""
    workload = {"servers": random.choice((24, 32, 48)), "sru": "16KiB", "blocks": 2}
    transport = {"receive_window": random.choice(("4KiB", "6KiB", "8KiB"))}
    return _document("lab", random, random.choice(("32KiB", "48KiB")), workload, transport)


def bad_link(random: Random) -> Document:
    """Return reads through a link that loses packets at random."""
    queue = {"name": "bernoulli", "p": random.choice((0.003, 0.01, 0.02)), "data_only": True}
    workload = {"servers": random.choice((1, 2, 4, 8)), "sru": "256KiB", "blocks": 5}
    return _document(
        random.choice(("lab", "linux", "rfc")),
        random,
        "16MiB",
        workload | {"connections": "persistent"},
        {"receive_window": "32KiB"},
        queue=queue,
    )


def marked(random: Random) -> Document:
    """Return reads with marked congestion: DCTCP, and a buffer that never fills."""
    workload = {
        "servers": random.choice((4, 8, 16)),
        "sru": random.choice(("64KiB", "128KiB")),
        "blocks": 2,
        "connections": "persistent",
    }
    queue = {"name": "ecn-threshold", "threshold": random.choice(("10pkt", "20pkt"))}
    return _document("linux-dctcp", random, "16MiB", workload, {"name": "dctcp"}, queue=queue)


def _document(
    profile: str,
    random: Random,
    buffer: str,
    workload: Document,
    transport: Document,
    **network: Any,
) -> Document:
    return {
        "profile": profile,
        "network": {
            "rate": random.choice(("1Gbps", "1Gbps", "10Gbps")),
            "delay": random.choice(("10us", "25us", "50us")),
            "buffer": buffer,
            **network,
        },
        "workload": {"name": "barrier-read", **workload},
        "transport": transport,
        "run": {"seeds": [1], "time_limit": "60s"},
    }
