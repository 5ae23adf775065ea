"""Any valid scenario gives a table, a page, models and pictures, or an error of one line.

The scenarios are random, but the same in every test run. They include every workload, topology,
transport, remedy, queue and kind of background traffic, runs that do not finish, and sweeps of
every shape.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import pytest

import incast
from incast import _core
from incast.cli.console import Paper
from incast.cli.table import render
from incast.models.theory import ask
from incast.plots import KINDS, Moment

CASES = int(os.environ.get("INCAST_CASES", "0")) // 5 or 20
_NAMES = {
    kind: [
        entry["name"]
        for entry in json.loads(_core.entries(kind))
        if entry.get("family", "tcp") == "tcp"
    ]
    for kind in ("transports", "remedies", "queues")
}
_TOPOLOGIES: list[dict[str, Any]] = [
    {"name": "star"},
    {"name": "star"},
    {"name": "chain", "switches": 3},
    {"name": "two-tier", "racks": 3},
    {"name": "leaf-spine", "leaves": 2, "spines": 2},
    {"name": "parallel", "paths": 2},
]
_BUFFERS: list[Any] = [
    "16KiB",
    "40pkt",
    "1MiB",
    {"name": "shared", "total": "96KiB", "limit": "48KiB"},
    {"name": "dynamic", "total": "96KiB", "alpha": 1},
    {"name": "dynamic", "total": "200pkt", "alpha": "1/2"},
]
_SWEEPS: list[dict[str, list[Any]]] = [
    {"workload.servers": [1, 3, 20]},
    {"transport.rto_min": ["20ms", "1ms"]},
    {"network.rate": ["100Mbps", "1Gbps"], "workload.servers": [2, 16]},
    {"transport.name": ["newreno", "sack", "swift"]},
    {"transport.name": ["newreno", "dctcp"], "workload.servers": [8, 2], "network.rate": ["1Gbps"]},
]  # fmt: skip


def draw(random: Random) -> dict[str, Any]:
    """Draw a document, which is valid in most cases."""
    name = random.choice(["barrier-read", "barrier-read", "long-flows"])
    workload: dict[str, Any] = {"name": name, "servers": random.choice([1, 2, 8, 30])}
    if name == "long-flows":
        workload["duration"] = random.choice(["2ms", "20ms"])
    else:
        workload["sru"] = random.choice([1, "2KiB", "24KiB"])
        workload["blocks"] = random.choice([1, 3])
        workload["connections"] = random.choice(["fresh", "persistent"])
    network: dict[str, Any] = {
        "rate": random.choice(["100Mbps", "1Gbps", "10Gbps"]),
        "delay": random.choice(["1us", "25us"]),
        "buffer": random.choice(_BUFFERS),
        "topology": random.choice(_TOPOLOGIES),
        "clients": random.choice([1, 1, 2]),
    }
    if network["topology"]["name"] != "star":
        network["core"] = {"rate": "1Gbps", "delay": "5us", "buffer": "64KiB"}
    transport: dict[str, Any] = {"name": random.choice(_NAMES["transports"])}
    if random.random() < 0.3:
        network["queue"] = random.choice(_NAMES["queues"])
    if random.random() < 0.3:
        transport["remedies"] = [random.choice(_NAMES["remedies"])]
    if random.random() < 0.5:
        transport["rto_min"] = random.choice(["1ms", "200ms"])
    document = {"network": network, "workload": workload, "transport": transport}
    document["title"] = random.choice(["", "A title", "$x_", "y" * 200])
    document["background"] = [
        _other(random, number) for number in range(random.choice([0, 0, 1, 2]))
    ]
    document["run"] = {
        "seeds": random.choice([1, 2]),
        "time_limit": random.choice(["2ms", "300ms"]),
    }
    if random.random() < 0.7:
        document["sweep"] = random.choice(_SWEEPS)
    return document


def _other(random: Random, number: int) -> dict[str, Any]:
    kind: dict[str, Any] = random.choice(
        [
            {"name": "cbr", "rate": "10Mbps"},
            {"name": "poisson", "rate": "0Mbps"},
            {"name": "on-off", "rate": "10Mbps", "burst": "1ms", "idle": "1ms"},
            {"name": "long-flow", "count": 1},
            {"name": "poisson-flows", "interval": "300us", "size": "4KiB"},
        ]
    )
    return kind | random.choice([{}, {"group": f"other {number}"}])


@cache
def scenarios() -> list[incast.Scenario]:
    """Return the valid scenarios among the drawn documents."""
    return list(_valid(Random(14)))


def _valid(random: Random) -> Iterator[incast.Scenario]:
    found = tried = 0
    while found < CASES:
        tried += 1
        assert tried < 10 * CASES + 50, "too few of the scenarios drawn are valid"
        scenario = incast.load(draw(random))
        try:
            assert scenario.plan.points
        except incast.ScenarioError:
            continue
        found += 1
        yield scenario


_DRAWN: Counter[str] = Counter()


@pytest.mark.parametrize("number", range(CASES))
def test_everything_is_shown_or_refused_in_a_line(
    number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = scenarios()[number]
    traces = Random(number).choice([[], ["queue", "cwnd", "events"], ["cwnd"], ["queue"]])
    results = incast.run(scenario, traces=traces)
    groups = results.groups
    render(results, Paper(), groups)
    assert capsys.readouterr().out
    assert results._repr_html_().count("<tr>") == 1 + len(scenario.plan.points)
    said = []
    for kind in KINDS.values():
        for group in groups:
            try:
                picture = kind.draw(results, Moment(group=group))
            except incast.ResultsError as error:
                said.append(str(error))
                continue
            assert picture.data.height > 0
            picture.figure.draw_without_rendering()
            _DRAWN[kind.name] += 1
    assert all("\n" not in line and len(line) < 300 for line in said)


@pytest.mark.parametrize("number", range(CASES))
def test_models_answer_or_refuse_in_a_line(number: int) -> None:
    theory = ask(scenarios()[number].plan)
    assert all("\n" not in why for why in theory.refusals.values())


def test_every_kind_was_drawn_of_something() -> None:
    assert set(_DRAWN) == set(KINDS)


def test_what_is_drawn_is_of_every_sort() -> None:
    found = Counter(
        name
        for scenario in scenarios()
        for resolved in [scenario.plan.points[0].resolved]
        for name in (
            resolved["workload"]["name"],
            resolved["network"]["topology"]["name"],
            *(other["name"] for other in resolved["background"]),
        )
    )
    assert {"barrier-read", "long-flows"} <= set(found)
    assert {one["name"] for one in _TOPOLOGIES} <= set(found)
    assert {"cbr", "long-flow", "poisson-flows"} <= set(found)
