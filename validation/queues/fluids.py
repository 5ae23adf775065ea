"""Long flows in the packet-level engine, compared with the fluid equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import incast
from incast.models.fluid import Dctcp, DropTail, Link, Reno, Threshold, reno_window, solve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incast.models.fluid import Trajectory
    from incast.models.numbers import Floats

PACKET = 1500
IDLE = {"name": "barrier-read", "servers": 8, "sru": 1, "blocks": 1, "start_spread": "1000s"}
"""A workload that requests almost no data, and lasts longer than the time limit of a run."""
MSS = 1460
LOSSES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
DCTCP = ((2, 65), (10, 65), (20, 65), (2, 20), (10, 20))
"""Number of flows and marking threshold in packets, at 10 Gbps and a round trip of 100 us."""
RENO = (2, 5, 10, 20, 40)
"""Numbers of flows, with a buffer of 100 packets, at 1 Gbps and a round trip of 100 us."""
SHOWN = (2, 65)
"""The DCTCP run whose queue is drawn."""


@dataclass(frozen=True)
class Window:
    """The mean window of a flow that loses random packets, in the equations and in the engine."""

    share: float
    fluid: float
    here: float
    timeouts: int


@dataclass(frozen=True)
class Port:
    """The switch port with long flows, after their start, in the equations and in the engine."""

    label: str
    fluid: Trajectory
    mean: float
    longest: float
    shortest: float
    utilization: float
    signalled: float
    time: Floats
    queue: Floats


def windows(losses: Iterable[float] = LOSSES) -> list[Window]:
    """Run flows with random losses on a link that is never full."""
    found = []
    for share in losses:
        row, _ = _run(
            {"rate": "100Gbps", "base_rtt": "1ms", "buffer": "100000pkt"},
            {"name": "bernoulli", "p": share, "data_only": True},
            ("newreno", 4),
            5.0,
        )
        rate = row["goodput_bps"] / 8 / MSS / 4
        found.append(Window(share, float(reno_window(share)), rate * 1e-3, row["timeouts"]))
    return found


def dctcp(cases: Iterable[tuple[int, int]] = DCTCP) -> list[Port]:
    """Run DCTCP flows through a port that marks above a threshold."""
    return [
        _port(
            f"{flows} flows, K = {threshold}",
            {"rate": "10Gbps", "base_rtt": "100us", "buffer": "1000pkt"},
            {"name": "ecn-threshold", "threshold": f"{threshold}pkt"},
            ("dctcp", flows),
            _fluid(flows, 1e10, 1000, threshold),
            (0.15, 0.03),
        )
        for flows, threshold in cases
    ]


def reno(counts: Iterable[int] = RENO) -> list[Port]:
    """Run NewReno flows through a drop-tail buffer."""
    return [
        _port(
            f"{flows} flows",
            {"rate": "1Gbps", "base_rtt": "100us", "buffer": "100pkt"},
            {"name": "drop-tail"},
            ("newreno", flows),
            _fluid(flows, 1e9, 100, None),
            (1.0, 0.2),
        )
        for flows in counts
    ]


def _fluid(flows: int, rate: float, places: int, threshold: float | None) -> Trajectory:
    # The round trip of a scenario includes a packet's transmission time on the bottleneck. In the
    # equations, the delay and q/C do not include it.
    service = PACKET * 8 / rate
    link = Link(1 / service, 100e-6 - service, places)
    if threshold is None:
        return solve(flows, link, Reno(), DropTail(), 0.2, steps_per_round_trip=10).after(0.1)
    return solve(flows, link, Dctcp(), Threshold(threshold), 0.05).after(0.02)


def _port(
    label: str,
    network: dict[str, Any],
    queue: dict[str, Any],
    flows: tuple[str, int],
    fluid: Trajectory,
    times: tuple[float, float],
) -> Port:
    seconds, start = times
    row, trace = _run(network, queue, flows, seconds, start)
    time = trace["time_s"].to_numpy()
    packets = trace["packets_last"].to_numpy().astype(float)
    widths = np.diff(time)
    signals = row["marks"] / row["packets_sent"] if flows[0] == "dctcp" else row["drop_ratio"]
    return Port(
        label,
        fluid,
        float(packets[:-1] @ widths / widths.sum()),
        float(packets.max()),
        float(packets.min()),
        row["link_utilization"],
        signals,
        time,
        packets,
    )


def _run(
    network: dict[str, Any],
    queue: dict[str, Any],
    flows: tuple[str, int],
    seconds: float,
    traced_from: float | None = None,
) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return the row of the long flows, and every change of the queue from `traced_from` on."""
    name, count = flows
    transport = {"name": name, "mss": MSS, "rto_min": "10ms", "receive_window": 100_000}
    tree = {
        "network": {"topology": "star", "server_rate": "1Tbps", "queue": queue, **network},
        "workload": IDLE,
        "transport": {"name": name, "handshake": "none"},
        "background": [{"name": "long-flow", "count": count, "transport": transport}],
        "run": {"seeds": 1, "time_limit": f"{seconds}s"},
    }
    found = incast.run(incast.load(tree), traces=[] if traced_from is None else ["queue:full"])
    row = found.frame(None).filter(pl.col("group") != "all").row(0, named=True)
    if traced_from is None:
        return row, pl.DataFrame()
    job = next(iter(found.plan.jobs()))
    trace = found.traces.of("queue", job)
    return row, trace.filter(pl.col("time_s") >= traced_from)
