"""Fragments for SONiC switches: SONiC's published models allow every field and value."""

import json
from typing import Any

import pytest

import incast
from incast.advise.case import case_of
from incast.advise.fixes import Fix, Who, catalogue
from incast.advise.fixes.marking import switch_words
from incast.advise.readers import sonic
from incast.advise.sonic_schema import SCHEMA, merged, wrong

ALPHAS = tuple(range(-8, 8))
SWITCH: dict[str, Any] = {
    "PORT": {"Ethernet0": {"speed": "10000"}},
    "BUFFER_POOL": {"egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "32000000"}},
    "BUFFER_PROFILE": {
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "-3"}
    },
}


def scenario(buffer: object, servers: int = 16) -> dict[str, Any]:
    return {
        "profile": "linux",
        "network": {"rate": "10Gbps", "delay": "10us", "buffer": buffer},
        "workload": {"servers": servers, "sru": "32KiB", "connections": "persistent"},
    }


def of_switches(document: dict[str, Any]) -> list[Fix]:
    return [fix for fix in catalogue(case_of(incast.load(document))) if fix.who is Who.SWITCH]


def fragment(text: str) -> dict[str, Any]:
    start = text.index("<<'END'\n") + len("<<'END'\n")
    tables: dict[str, Any] = json.loads(text[start : text.index("\nEND\n")])
    return tables


EVERY = [
    fix
    for buffer in (
        *("16KiB", "64KiB", "1MiB", "40pkt"),
        *({"name": "dynamic", "total": "32MB", "alpha": f"2^{n}"} for n in ALPHAS),
    )
    for servers in (4, 64)
    for fix in of_switches(scenario(buffer, servers))
]


def test_every_kind_of_fragment_is_looked_at() -> None:
    fields = {
        (table, field)
        for fix in EVERY
        for table, rows in fragment(fix.text).items()
        for row in rows.values()
        for field in row
    }
    assert {table for table, _ in fields} == {"BUFFER_PROFILE", "WRED_PROFILE", "QUEUE"}
    assert {field for table, field in fields if table == "BUFFER_PROFILE"} == {
        "static_th",
        "dynamic_th",
    }
    assert {field for table, field in fields if table == "WRED_PROFILE"} == set(
        SCHEMA["WRED_PROFILE"].fields
    )


def test_a_switch_has_nothing_that_its_models_forbid_after_any_fix() -> None:
    assert len(EVERY) > 60
    assert wrong(SWITCH) == []
    for fix in EVERY:
        assert wrong(merged(SWITCH, fragment(fix.text))) == [], fix.name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"BUFFER_PROFILE": {"egress_lossy_profile": {"dynamic_th": "8"}}}, "from -8 to 7"),
        ({"BUFFER_PROFILE": {"egress_lossy_profile": {"static_th": "-1"}}}, "whole number from 0"),
        ({"BUFFER_PROFILE": {"egress_lossy_profile": {"static_th": "1.5"}}}, "whole number"),
        ({"BUFFER_PROFILE": {"egress_lossy_profile": {"alpha": "1"}}}, "no field 'alpha'"),
        ({"BUFFER_PROFILE": {"mine": {"dynamic_th": "1"}}}, "pool is missing"),
        ({"BUFFER_PROFILE": {"egress_lossy_profile": {"pool": "x"}}}, "a row of BUFFER_POOL"),
        ({"BUFFER_POOL": {"egress_lossy_pool": {"mode": "both"}}}, "one of static, dynamic"),
        ({"WRED_PROFILE": {"A": {"ecn": "all"}}}, "one of ecn_none"),
        ({"WRED_PROFILE": {"A": {"green_drop_probability": "101"}}}, "from 0 to 100"),
        ({"WRED_PROFILE": {"A b": {}}}, "the key must match"),
        (
            {"WRED_PROFILE": {"A": {"red_min_threshold": "9", "red_max_threshold": "8"}}},
            "not be below",
        ),
        ({"QUEUE": {"Ethernet0": {}}}, "the key must match"),
        ({"QUEUE": {"Ethernet0|3-4": {"wred_profile": "A"}}}, "a row of WRED_PROFILE"),
    ],
)
def test_what_the_models_forbid_is_found(change: dict[str, Any], said: str) -> None:
    found = wrong(merged(SWITCH, change))
    assert any(said in complaint for complaint in found), found


def test_marks_are_a_step() -> None:
    """DCTCP needs equal minimum and maximum thresholds, and a marking probability of 100 %."""
    (profile,) = fragment(switch_words(30_000).text)["WRED_PROFILE"].values()
    for colour in ("green", "yellow", "red"):
        ends = {profile[f"{colour}_{end}_threshold"] for end in ("min", "max")}
        assert ends == {"30000"}
        assert profile[f"{colour}_drop_probability"] == "100"
        assert profile[f"wred_{colour}_enable"] == "true"


def test_the_reader_finds_what_a_fragment_changed() -> None:
    for fix in EVERY:
        tables = fragment(fix.text)
        if "WRED_PROFILE" in tables:
            told = sonic.read(json.dumps(merged(SWITCH, tables)), "x.json").changes
            assert told["network.queue"]["name"] == "ecn-threshold"  # type: ignore[index]
        elif fix.name.startswith("alpha"):
            told = sonic.read(json.dumps(merged(SWITCH, tables)), "x.json").changes
            alpha = told["network.buffer"]["alpha"]  # type: ignore[index]
            assert alpha == fix.changes["network.buffer"]["alpha"]  # type: ignore[index]
