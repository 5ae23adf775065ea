"""The headline of ICTCP's paper: reads of up to 47 servers through buffers of three sizes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import polars as pl

import incast
from validation.common.judge import Verdict

BUFFERS = ("128KiB", "1MiB", "4MiB")
SERVERS = (2, 4, 8, 12, 16, 20, 24, 28, 30, 31, 32, 36, 40, 44, 45, 47, 50)
SAMPLE = (8, 24, 30, 31, 44, 45, 47)
SEEDS, BLOCKS, MOST = 10, 10, 47
PACKETS = 128 * 1024 // 1500
"""The number of packets that fit into the smallest buffer."""
LABELS: dict[str, list[Any]] = {
    "TCP": [],
    "ICTCP": ["ictcp"],
    "ICTCP, two segments": [{"name": "ictcp", "initial_window": 2}],
    "ICTCP, each its quota": [{"name": "ictcp", "quota": "each"}],
}
"""Values of `transport.remedies`. Without a remedy, the initial window is three segments."""

STAR: dict[str, Any] = {
    "network": {"topology": "star", "rate": "1Gbps", "delay": "25us"},
    "workload": {
        "name": "barrier-read", "sru": "100KiB", "blocks": BLOCKS, "connections": "fresh",
        "start_spread": "20us",
    },
    "transport": {
        "name": "newreno", "mss": 1460, "initial_window": 3, "rto_min": "300ms",
        "send_jitter": "8us",
    },
}  # fmt: skip


@dataclass(frozen=True)
class Curve:
    """The results of a remedy with one buffer, for each number of servers."""

    buffer: str
    label: str
    servers: tuple[int, ...]
    goodput: tuple[float, ...]
    """Goodput in Mbps, for each number of servers."""
    timeouts: tuple[float, ...]
    """Timeouts per block, for each number of servers."""


def run(servers: tuple[int, ...], seeds: int, jobs: int) -> list[Curve]:
    """Run every series with every buffer."""
    document = STAR | {
        "workload": {**STAR["workload"], "servers": servers[0]},
        "network": {**STAR["network"], "buffer": BUFFERS[0]},
        "run": {"seeds": seeds},
        "sweep": {
            "network.buffer": list(BUFFERS),
            "workload.servers": list(servers),
            "transport.remedies": list(LABELS.values()),
        },
    }
    frame = incast.run(document, jobs=jobs).frame()
    remedies = pl.col("transport.remedies").map_elements(_label, return_dtype=pl.String)
    means = (
        frame.with_columns(remedies.alias("label"))
        .group_by("network.buffer", "label", "workload.servers")
        .agg(pl.col("goodput_bps").mean() / 1e6, pl.col("timeouts").mean() / BLOCKS)
        .sort("workload.servers")
    )
    return [_curve(means, buffer, label, servers) for buffer in BUFFERS for label in LABELS]


def _label(remedies: str) -> str:
    given = json.loads(remedies)
    return next(label for label, value in LABELS.items() if value == given)


def _curve(means: pl.DataFrame, buffer: str, label: str, servers: tuple[int, ...]) -> Curve:
    rows = means.filter((pl.col("network.buffer") == buffer) & (pl.col("label") == label))
    return Curve(buffer, label, servers, tuple(rows["goodput_bps"]), tuple(rows["timeouts"]))


def judge(found: list[Curve]) -> list[Verdict]:
    """Judge the curves by the bars that were chosen before the runs."""
    curves = {(curve.buffer, curve.label): curve for curve in found}
    own, plain = curves["1MiB", "ICTCP"], curves["1MiB", "TCP"]
    kept, most = _kept(own), max(_up_to(own, own.timeouts))
    collapse = next((n for n, share in _shares(plain) if share < 0.5), None)
    limits = {label: _limit(curves["128KiB", label]) for label in list(LABELS)[1:3]}
    expected = {label: PACKETS // w + 1 for label, w in zip(limits, (3, 2), strict=True)}
    said = ", ".join(f"{label} {limit} servers" for label, limit in limits.items())
    return [
        Verdict(
            f"1 MiB: ICTCP keeps 80 % of its best goodput up to {MOST} servers",
            f"at least {kept:.0%}", (), kept >= 0.8,
        ),
        Verdict(
            "1 MiB: ICTCP has fewer than one timeout in a hundred blocks", "at most "
            f"{most:.2f} per block", (), most < 0.01,
        ),
        Verdict(
            "1 MiB: TCP falls below half of its best with fewer servers",
            f"with {collapse} servers", (),
            collapse is not None and collapse < MOST,
        ),
        Verdict(
            "128 KiB: the initial window w sets the limit: no timeout up to ⌊B/w⌋ + 1 servers "
            "(± 1, since requests are up to 20 us apart)",
            said, (), all(abs(limits[it] - expected[it]) <= 1 for it in limits),
        ),
    ]  # fmt: skip


def _up_to(curve: Curve, values: tuple[float, ...]) -> list[float]:
    return [it for n, it in zip(curve.servers, values, strict=True) if n <= MOST]


def _shares(curve: Curve) -> list[tuple[int, float]]:
    """Return each number of servers, with its goodput divided by the best goodput up to it."""
    best, shares = 0.0, []
    for servers, goodput in zip(curve.servers, curve.goodput, strict=True):
        best = max(best, goodput)
        shares.append((servers, goodput / best))
    return shares


def _kept(curve: Curve) -> float:
    return min(share for servers, share in _shares(curve) if servers <= MOST)


def _limit(curve: Curve) -> int:
    """Return the largest number of servers up to which no timer expired."""
    pairs = zip(curve.servers, curve.timeouts, strict=True)
    first = next((servers for servers, timeouts in pairs if timeouts > 0), None)
    return max(n for n in curve.servers if first is None or n < first)
