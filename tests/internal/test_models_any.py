"""Every model answers any valid scenario with finite numbers, or refuses it."""

import random
from math import isfinite
from typing import Any

import pytest

import incast
from incast import ScenarioError
from incast.models.theory import ask

CHOICES: dict[str, dict[str, list[Any]]] = {
    "network": {
        "buffer": ["1pkt", "40pkt", 1, "100KiB", "1MiB", {"name": "shared", "total": "200KiB"}],
        "rate": ["1kbps", "1Gbps", "800Gbps"],
        "server_rate": ["1Mbps", "100Gbps"],
        "delay": ["0s", "1ps", "1ms", "10s"],
        "buffer_cell": [208],
        "buffer_counts_in_service": [True],
        "ties": ["arrival-first", "scheduled"],
    },
    "transport": {
        "name": ["newreno", "sack", "cubic", "bbr", "swift", "dctcp", "plato", "ocs", "fine-rto"],
        "initial_window": [1, 10, "15B"],
        "send_jitter": ["1ps", "5us", "10ms"],
        "rto_min": ["1ps", "1ms", "10s"],
        "mss": [1, 500, 9000],
        "receive_window": [1, "1B", "32KiB"],
        "handshake": ["syn-only", "none"],
        "opener": ["client", "server"],
        "delayed_ack": [True],
    },
    "workload": {
        "connections": ["fresh", "persistent"],
        "request_jitter": ["1ps", "20us", "1s"],
        "start_spread": ["1ps", "20us", "1s"],
        "interval": ["1ms"],
    },
}
PROFILES = ["lab", "linux", "linux-dctcp", "ns2", "ns3", "rfc"]
VALID = 25


def drawn(draw: random.Random) -> dict[str, Any]:
    tree: dict[str, Any] = {"profile": draw.choice(PROFILES), "run": {"seeds": 1}}
    for table, keys in CHOICES.items():
        tree[table] = {key: draw.choice(of) for key, of in keys.items() if draw.random() < 0.2}
    if draw.random() < 0.2:
        flows = {"name": "long-flows", "servers": draw.choice([1, 3]), "duration": "0.1s"}
        return tree | {"workload": flows}
    part = {draw.choice(["sru", "block"]): draw.choice(["1B", "1000B", "64KiB"])}
    length = draw.choice([{}, {"blocks": 3}, {"duration": "1s"}])
    tree["workload"] |= {"servers": draw.choice([1, 3, 17, 60])} | part | length
    return tree


@pytest.mark.parametrize("seed", range(6))
def test_models_answer_or_refuse_whatever_loads(seed: int) -> None:
    draw = random.Random(seed)
    asked = 0
    while asked < VALID:
        tree = drawn(draw)
        try:
            plan = incast.load(tree).plan
        except ScenarioError:
            continue
        asked += 1
        theory = ask(plan)
        numbers = [it for row in theory.frame.to_dicts() for it in row.values()]
        assert all(isfinite(it) for it in numbers if isinstance(it, float)), tree
        assert all(theory.refusals.values()), tree
