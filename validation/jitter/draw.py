"""Draws random reads with jitter, unequal links, and all profiles and transports."""

from __future__ import annotations

from typing import Any

import numpy as np

PROFILES = ("lab", "linux", "ns2", "ns3", "rfc")
TRANSPORTS = ("tahoe", "reno", "newreno", "sack", "cubic", "dctcp", "bbr")
SEEDS = {"development": 31, "held-out": 47}
"""The seeds of the scenarios: one set to develop the model, one set to judge it."""
BLOCKS = 20
MOST_PACKETS = 6_000
"""Maximum number of packets per block, so that the study takes only minutes."""


def scenarios(which: str, count: int) -> list[dict[str, Any]]:
    """Return the first scenarios of a set, which are always the same."""
    rng = np.random.default_rng(SEEDS[which])
    drawn: list[dict[str, Any]] = []
    while len(drawn) < count:
        tree = _draw(rng)
        packets = tree["workload"]["servers"] * tree["workload"]["sru"] / 1460
        exists = (tree["profile"], tree["transport"]["name"]) != ("ns2", "cubic")
        if packets <= MOST_PACKETS and exists:
            drawn.append(tree)
    return drawn


def _draw(rng: np.random.Generator) -> dict[str, Any]:
    rate = _between(rng, 1e9, 100e9)
    network: dict[str, Any] = {
        "rate": f"{round(rate)}bps",
        "delay": _time(_between(rng, 2e-6, 100e-6)),
        "buffer": round(_between(rng, 16 * 1024, 512 * 1024)),
    }
    if rng.random() < 0.5:
        network["buffer"] = f"{round(_between(rng, 10, 350))}pkt"
    unequal = rng.random()
    if unequal < 0.25:
        network["server_rate"] = f"{round(rate * _between(rng, 0.1, 1.0))}bps"
    elif unequal < 0.5:
        network["client_rate"] = f"{round(rate * _between(rng, 0.1, 1.0))}bps"
    if rng.random() < 0.5:
        network["server_delay"] = _time(_between(rng, 2e-6, 100e-6))
    workload: dict[str, Any] = {
        "servers": round(_between(rng, 2, 96)),
        "sru": round(_between(rng, 16 * 1024, 1024 * 1024)),
        "blocks": BLOCKS,
        "connections": "persistent" if rng.random() < 0.5 else "fresh",
    }
    profile, name = str(rng.choice(PROFILES)), str(rng.choice(TRANSPORTS))
    transport: dict[str, Any] = {"name": name, "rto_min": _time(_between(rng, 1e-3, 200e-3))}
    # At least one of the three kinds of jitter is set.
    jitters = [_between(rng, 1e-6, 100e-6) if rng.random() < 0.6 else None for _ in range(3)]
    if not any(jitters):
        jitters[0] = 20e-6
    for table, key, value in zip(
        (workload, workload, transport),
        ("request_jitter", "start_spread", "send_jitter"),
        jitters,
        strict=True,
    ):
        if value is not None:
            table[key] = _time(value)
    return {
        "profile": profile,
        "network": network,
        "workload": workload,
        "transport": transport,
        "run": {"seeds": 1, "time_limit": "100000s"},
    }


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw log-uniformly."""
    return float(low * (high / low) ** rng.random())


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)}ns"
