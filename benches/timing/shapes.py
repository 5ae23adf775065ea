"""Scenarios that grow in one dimension at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Scenarios of three sizes.

    Parameters
    ----------
    name
        Name of the dimension that grows.
    sizes
        Sizes in that dimension.
    document
        Function that returns the scenario of a size.
    units
        Function that returns the work of a size, to which the time must be proportional; by default
        the packet-hops.
    """

    name: str
    sizes: tuple[int, int, int]
    document: Callable[[int], Document]
    units: Callable[[int], float] | None = None


def exponent(work: list[float], seconds: list[float]) -> float:
    """Fit a line to log(time) as a function of log(work) by least squares; return its slope."""
    x, y = [log(value) for value in work], [log(value) for value in seconds]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    return above / sum((a - x_mean) ** 2 for a in x)


def _read(servers: int, sru: str, buffer: str, **workload: object) -> Document:
    return {
        "network": {"rate": "100Gbps", "delay": "1us", "buffer": buffer},
        "workload": {"name": "barrier-read", "servers": servers, "sru": sru, **workload},
        "transport": {"name": "newreno", "initial_window": 10, "receive_window": "100pkt"},
    }


def _holes(recovery: str) -> Callable[[int], Document]:
    def document(window: int) -> Document:
        return {
            "network": {"rate": "10Gbps", "delay": "1ms", "buffer": "1GB"}
            | {"queue": {"name": "bernoulli", "p": 0.3, "data_only": True}},
            "workload": {"name": "barrier-read", "servers": 1, "sru": window * 1460},
            "transport": {
                "name": "newreno",
                "recovery": recovery,
                "initial_window": window,
                "receive_window": f"{window}pkt",
                "rto_min": "10ms",
            },
        }

    return document


def _bursts(servers: int) -> Document:
    return {
        "network": {
            "topology": {"name": "parallel", "paths": 1},
            "rate": "10Mbps",
            "client_rate": "100Mbps",
            "delay": "1ms",
            "buffer": "1000pkt",
            "core": {"rate": "20Mbps", "delay": "5ms"},
        },
        "workload": {
            "name": "long-flows",
            "servers": servers,
            "duration": "10s",
            "bursts": {"rate": "10Mbps", "burst": "100ms", "idle": "100ms"},
        },
        "transport": {"name": "newreno", "receive_window": "16KiB"},
    }


def _everybody(clients: int, **workload: object) -> Document:
    return {
        "network": {"clients": clients, "rate": "10Gbps", "delay": "1us", "buffer": "1MB"},
        "workload": {"name": "all-to-all", "message": "1KB", **workload},
        "transport": {"name": "newreno"},
    }


def _fabric(leaves: int) -> Document:
    return {
        "network": {
            "topology": {"name": "leaf-spine", "leaves": leaves, "spines": leaves},
            "clients": leaves,
            "rate": "10Gbps",
            "delay": "1us",
            "buffer": "1MB",
        },
        "workload": {
            "name": "empirical-flows",
            "servers": leaves,
            "sizes": [[64_000, 1]],
            "flows": 100 * leaves,
            "load": 0.3,
            "to": list(range(leaves)),
        },
        "transport": {"name": "newreno"},
    }


SHAPES = [
    Shape("servers", (1_000, 10_000, 100_000), lambda n: _read(n, "1KB", "1GB")),
    Shape(
        "servers asked within 1 ms",
        (1_000, 10_000, 100_000),
        lambda n: _read(n, "1KB", "1GB", request_jitter=f"{2_000_000 // n}ns"),
    ),
    Shape("servers in collapse", (1_000, 6_000, 36_000), lambda n: _read(n, "30KB", "4MiB")),
    Shape("bytes", (300_000, 3_000_000, 30_000_000), lambda n: _read(32, f"{n}B", "128KiB")),
    Shape("blocks", (30, 300, 3_000), lambda n: _read(32, "32KiB", "128KiB", blocks=n)),
    Shape(
        "timeouts with a long queue",
        (300, 1_000, 3_000),
        lambda n: _read(n, "300KB", f"{100 * n}pkt"),
    ),
    *(
        Shape(f"holes, {recovery}", (3_000, 20_000, 120_000), _holes(recovery))
        for recovery in ("newreno", "sack", "rack-tlp")
    ),
    Shape("sources of bursts", (100, 1_000, 10_000), _bursts, float),
    Shape("clients that send to each other", (30, 80, 200), _everybody, lambda n: n * (n - 1.0)),
    Shape(
        "the same, within 1 s",
        (100, 300, 1_000),
        lambda n: _everybody(n, start_spread="1s"),
        lambda n: n * (n - 1.0),
    ),
    Shape("switches", (4, 20, 100), _fabric),
]
