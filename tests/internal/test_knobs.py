"""Every key of a scenario changes a row, or is refused where it has no effect.

A key is tried in the scenarios of `knobs/scenarios.toml`, with values that are not its default. A
key that needs a special value or scenario has an entry in another file of that folder: `is` is the
value, `in` names the scenario, `with` sets other keys of the scenario, and `without` removes keys
from the scenario. A part that may occur in several positions is tried in the first position.
"""

import json
from functools import cache
from typing import Any

import pytest
from knob_walk import Document, around, keys, others, put, scenarios, table

import incast
from incast import ScenarioError, _core

OWN: Document = {
    key: given
    for name in ("network", "traffic", "transport", "parts", "remedies")
    for key, given in table(name).items()
}
VOID = table("void")
SCENARIOS = scenarios()
# Keys that change no row. Each has a value, the other keys that the scenario needs, and a reason.
STILL: dict[str, tuple[object, Document, str]] = {
    "title": ("Another one", {}, "it is for people"),
    "network.clients": (
        3,
        {"network.buffer": {"name": "dynamic", "total": "64KiB"}},
        "a host that nobody sends to does nothing, and who sends to it needs it there",
    ),
    "transport[blast].rate": ("none", {"transport": "blast"}, "there is one rate law"),
    "transport[blast].credit": ("none", {"transport": "blast"}, "there is one credit scheme"),
    "network.queue[rapid].label": (
        3,
        {"network.queue[rapid].early": True},
        "no data carry a label but those of a remedy, which refuses a switch without its label",
    ),
}


@cache
def told(text: str) -> str:
    """Run all points of a document; return the rows, or an empty string if it is not valid."""
    try:
        plan = incast.load(json.loads(text)).plan
    except ScenarioError:
        return ""
    found = [_core.run(point.scenario, plan.seeds[0])["rows"] for point in plan.points]
    return comparable(found)


def comparable(found: list[list[dict[str, Any]]]) -> str:
    measured = [
        {name: row[name] for name in row if name != "wall_s"} for run in found for row in run
    ]
    return json.dumps(measured, default=repr)


def rows(document: Document) -> str:
    return told(json.dumps(document))


def moves(document: Document, key: str, value: object) -> bool:
    before, after = rows(document), rows(put(document, key, value))
    return bool(before) and bool(after) and before != after


@pytest.mark.parametrize("key", keys())
def test_every_key_moves_a_row(key: str) -> None:
    if key in STILL:
        return
    if own := OWN.get(key):
        base = SCENARIOS[own.get("in", "collapse")]
        document = around(key, own, base)
        assert rows(document), incast.load(document).plan
        assert rows(put(document, key, own["is"])), incast.load(put(document, key, own["is"])).plan
        assert moves(document, key, own["is"]), "write another value, or another scenario"
        return
    values = list(others(keys()[key]))
    tried = ((around(key, {}, base), value) for base in SCENARIOS.values() for value in values)
    assert any(moves(document, key, value) for document, value in tried), (
        "a new key comes with a scenario in which it matters: write an entry in knobs/"
    )


def test_no_entry_is_about_a_key_that_is_gone() -> None:
    assert not (OWN.keys() | STILL.keys()) - keys().keys()
    assert not OWN.keys() & STILL.keys()


@pytest.mark.parametrize("key", STILL)
def test_what_moves_no_row_does_not(key: str) -> None:
    value, given, _ = STILL[key]
    document = around(key, {"with": given}, SCENARIOS["collapse"])
    assert single(put(document, key, value)) == single(document)


@pytest.mark.parametrize("key", VOID)
def test_a_key_that_moves_nothing_is_refused(key: str) -> None:
    given = VOID[key]
    base = around(key, given, SCENARIOS[given.get("in", "collapse")])
    document = put(base, key, given["is"])
    with pytest.raises(ScenarioError) as refused:
        assert incast.load(document).plan
    line = str(refused.value)
    name, _, why = line.partition(": ")
    assert name.split(".")[-1] == key.rsplit(".", maxsplit=1)[-1]
    assert why.startswith("has no effect while ")
    assert given["names"] in why.partition("; ")[0]
    assert "leave it out, or " in why
    assert "\n" not in line
    # The refusal is right: with the key, a point's rows are the same as without the key.
    assert single(document) == single(base)


def single(document: Document) -> str:
    return comparable([_core.run(_core.Scenario(json.dumps(document)), 1)["rows"]])


def test_what_holds_anyway_may_be_said() -> None:
    document = put(SCENARIOS["collapse"], "transport.dsack", True)
    assert rows(document) == rows(SCENARIOS["collapse"])


def test_a_key_may_matter_at_some_points_only() -> None:
    base = put(SCENARIOS["collapse"], "transport.dsack", False)
    crossed = put(base, "sweep", {"transport.name": ["newreno", "sack"]})
    assert len(incast.load(crossed).plan.points) == 2
    in_vain = put(base, "sweep", {"transport.name": ["newreno", "tahoe"]})
    with pytest.raises(ScenarioError, match=r"transport\.dsack: has no effect"):
        assert incast.load(in_vain).plan


def test_a_sweep_over_what_moves_nothing_is_refused() -> None:
    document = put(SCENARIOS["collapse"], "sweep", {"transport.dsack": [True, False]})
    with pytest.raises(ScenarioError, match=r"transport\.dsack: has no effect"):
        assert incast.load(document).plan


@pytest.mark.parametrize("profile", ["lab", "linux", "linux-dctcp", "ns2", "ns3", "rfc"])
def test_a_resolved_point_is_a_scenario(profile: str) -> None:
    """A resolved point has every key, even those that have no effect."""
    resolved = incast.load(SCENARIOS["collapse"] | {"profile": profile}).plan.points[0].resolved
    assert incast.load(resolved).plan.points[0].resolved == resolved
