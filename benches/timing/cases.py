"""The scenarios that are timed; most are one transfer from each of 32 servers through one port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SENDERS = 32
BYTES = 10_000_000


@dataclass(frozen=True)
class Workload:
    """A buffer in packets and a window in packets."""

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
    """Return the scenario that ns-2 also runs."""
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


def of_family(workload: Workload, name: str) -> dict[str, Any]:
    """Return the workload over a transport of another family, whose keys are not those of TCP."""
    return {**of_transport(workload, name), "transport": {"name": name}}


@dataclass(frozen=True)
class Case:
    """A scenario of the engine's table.

    Parameters
    ----------
    letter
        Letter of the case.
    name
        Description of the case.
    document
        The scenario.
    """

    letter: str
    name: str
    document: dict[str, Any]


def star(transport: str, buffer: object, *, window: int = 100, **network: object) -> dict[str, Any]:
    """Return one transfer from each server, with windows in packets."""
    return {
        "network": {"rate": "1Gbps", "delay": "25us", "buffer": buffer, **network},
        "workload": {
            "name": "barrier-read",
            "servers": SENDERS,
            "sru": f"{BYTES}B",
            "connections": "fresh",
            "request_jitter": "20us",
        },
        "transport": {
            "name": transport,
            "mss": 1460,
            "rto_min": "200ms",
            "initial_window": 10,
            "receive_window": f"{window}pkt",
        },
    }


def _long_queue() -> dict[str, Any]:
    document = star("newreno", "100000pkt")
    document["workload"] |= {"servers": 1000, "sru": "300KB"}
    return document


def _fabric() -> dict[str, Any]:
    transport = {"name": "newreno", "rto_min": "10ms"}
    return {
        "network": {
            "topology": {"name": "leaf-spine", "leaves": 8, "spines": 4},
            "clients": 64,
            "rate": "10Gbps",
            "delay": "2us",
            "buffer": "512KiB",
            "core": {"rate": "40Gbps", "buffer": "4MB"},
        },
        "workload": {
            "name": "barrier-read",
            "servers": 64,
            "sru": "256KiB",
            "blocks": 3,
            "connections": "persistent",
            "request_jitter": "20us",
        },
        "transport": {**transport, "receive_window": "100pkt"},
        "background": [
            {
                "name": "poisson-flows",
                "group": "short",
                "interval": "500us",
                "size": {"name": "uniform", "min": "50KB", "max": "1MB"},
                "from": "servers",
                "to": list(range(64)),
                "transport": transport,
            }
        ],
    }


ENGINE = [
    Case("a", "ample buffer", star("newreno", "4000pkt")),
    Case("b", "collapse, 32 packets", star("newreno", "32pkt", window=1000)),
    Case(
        "c",
        "DCTCP",
        star("dctcp", "250pkt", queue={"name": "ecn-threshold", "threshold": "20pkt"}),
    ),
    Case("d", "SACK, collapse", star("sack", "32pkt", window=1000)),
    Case("e", "leaf-spine, 64 by 64", _fabric()),
    Case("f", "1 000 servers, a long queue", _long_queue()),
    Case("g", "shared buffer", star("newreno", {"name": "dynamic", "total": "4MB", "alpha": 1})),
]


def counted() -> dict[str, dict[str, Any]]:
    """Return the reads whose instructions are counted: 16 servers, 256 KiB each, ten blocks."""
    names = ("newreno", "sack", "rack-tlp", "dctcp", "cubic", "vegas", "bbr", "swift", "plato")
    transports = {
        name: {
            "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
            "workload": {"name": "barrier-read", "servers": 16, "sru": "256KiB", "blocks": 10},
            "transport": {"name": name, "rto_min": "10ms"},
        }
        for name in names
    }
    return transports | {f"case {case.letter}": case.document for case in ENGINE}


def cluster() -> dict[str, Any]:
    """Return a read in collapse from ten thousand servers, with all requests within 20 us."""
    document = scenario(10_000, 65_536, rate="100Gbps", delay="1us", buffer="4MiB")
    document["workload"]["request_jitter"] = "2ns"
    return {**document, "profile": "lab"}
