"""What is timed: one transfer from each of 32 servers through one port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SENDERS = 32
BYTES = 10_000_000


@dataclass(frozen=True)
class Workload:
    """A buffer and a window, both in packets."""

    name: str
    buffer: int
    window: int


AMPLE = Workload("ample buffer", buffer=4000, window=100)
COLLAPSE = Workload("32-packet buffer, in collapse", buffer=32, window=1000)


def scenario(servers: int, sru: int, **network: str) -> dict[str, Any]:
    """Return a one-shot read in ns-2's configuration."""
    return {
        "profile": "ns2",
        "network": {"rate": "1Gbps", "delay": "25us", **network},
        "workload": {
            "name": "barrier-read",
            "servers": servers,
            "sru": f"{sru}B",
            "request_jitter": "20us",
        },
        "transport": {"mss": 1460, "initial_window": 10},
    }


def beside_ns2(workload: Workload) -> dict[str, Any]:
    """Return what ns-2 runs, too."""
    document = scenario(SENDERS, BYTES, buffer=f"{workload.buffer}pkt")
    document["transport"]["receive_window"] = workload.window
    return document


def of_transport(workload: Workload, name: str) -> dict[str, Any]:
    """Return the workload over a transport with its defaults, in the profile `lab`."""
    return {
        **beside_ns2(workload),
        "profile": "lab",
        "transport": {"name": name, "receive_window": workload.window},
    }


def cluster() -> dict[str, Any]:
    """Return a read from ten thousand servers."""
    document = scenario(10_000, 65_536, rate="100Gbps", delay="1us", buffer="4MiB")
    return {**document, "profile": "lab"}
