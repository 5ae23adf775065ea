"""The catalogue of fixes: valid scenarios, unique names, commands that can be undone."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import incast
from incast.advise.apps import APPS
from incast.advise.case import case_of
from incast.advise.envelope import STUDIES, Word, envelope_of
from incast.advise.fixes import Fix, Who, catalogue
from incast.advise.knee import knee
from incast.advise.trials import Clock, Trials

READ: dict[str, Any] = {
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "32KiB"},
    "workload": {"servers": 16, "sru": "32KiB", "blocks": 2, "request_jitter": "10us"},
    "transport": {"name": "newreno"},
}
LINUX = READ | {
    "profile": "linux",
    "network": READ["network"] | {"buffer": {"name": "dynamic", "total": "2MB", "alpha": "2^-4"}},
    "workload": READ["workload"] | {"connections": "persistent"},
    "transport": {},
}
FLOWS = READ | {"workload": {"name": "long-flows", "servers": 4, "duration": "50ms"}}


def fixes(document: dict[str, Any], app: str | None = None) -> list[Fix]:
    return catalogue(case_of(incast.load(document), APPS[app] if app else None))


@pytest.mark.parametrize("document", [READ, LINUX, FLOWS], ids=["lab", "linux", "flows"])
def test_every_fix_is_a_valid_scenario(document: dict[str, Any]) -> None:
    case = case_of(incast.load(document))
    trials = Trials(case)
    for fix in catalogue(case):
        assert trials.add(fix.name, fix.changes), trials.refused[fix.name]


@pytest.mark.parametrize("document", [READ, LINUX, FLOWS], ids=["lab", "linux", "flows"])
def test_names_are_unique_and_nothing_is_left_open(document: dict[str, Any]) -> None:
    found = fixes(document)
    assert len({fix.name for fix in found}) == len(found) > 8
    assert {fix.who for fix in found} >= {Who.SERVERS, Who.SWITCH}
    for fix in found:
        assert fix.what.endswith("."), fix.name
        assert all((fix.text, fix.rollback, fix.price, fix.risk)), fix.name


@pytest.mark.parametrize("app", APPS)
def test_an_application_has_only_settings_that_it_knows(app: str) -> None:
    of_app = [fix for fix in fixes(READ, app) if fix.name.startswith("at most")]
    assert not any("incast.client" in fix.text for fix in of_app)
    assert app != "spark" or any("spark.reducer.maxReqsInFlight" in it.text for it in of_app)
    assert bool([fix for fix in of_app if fix.who is Who.APPLICATION]) == (app != "nfs")


def test_commands_of_a_host_keep_what_was_before() -> None:
    for fix in fixes(READ) + fixes(LINUX):
        for name in re.findall(r"\$(OLD\w*|ROUTE|DEV)", fix.rollback):
            assert f"{name}=" in fix.text, fix.name


def test_a_larger_alpha_is_an_exponent_that_switches_accept() -> None:
    found = [fix for fix in fixes(LINUX) if fix.name.startswith("alpha")]
    assert found
    for fix in found:
        tables = json.loads(fix.text[fix.text.index("{") : fix.text.rindex("}") + 1])
        (profile,) = tables["BUFFER_PROFILE"].values()
        assert set(profile) == {"dynamic_th"}
        assert -4 < int(profile["dynamic_th"]) <= 3
        assert fix.changes["network.buffer"]["alpha"] == f"2^{profile['dynamic_th']}"  # type: ignore[index]


def test_a_run_is_short_and_a_note_says_so() -> None:
    long = READ | {"workload": READ["workload"] | {"blocks": 1000}}
    case = case_of(incast.load(long))
    assert int(case.here.workload["blocks"]) < 1000
    assert "than in the scenario" in case.notes[-1]
    assert case_of(incast.load(READ)).notes == ()


def test_a_scenario_without_chance_gets_some() -> None:
    even = READ | {"workload": {"servers": 4, "sru": "32KiB"}}
    case = case_of(incast.load(even))
    assert case.here.request_jitter > 0
    assert "no randomness" in case.notes[-1]


def test_the_interval_holds_the_point_of_a_full_search() -> None:
    case = case_of(incast.load(READ))
    trials = Trials(case)
    found = knee(case, trials, Clock(float("inf")))
    assert found is not None
    assert found.high is not None
    seeds = range(1, 13)
    for servers in range(2, 17):
        trials.add(f"all {servers}", {"workload.servers": servers})
    trials.run([f"all {servers}" for servers in range(2, 17)], seeds, Clock(float("inf")))
    bad = [
        servers
        for servers in range(2, 17)
        if (trials.collapsed(f"all {servers}", seeds) or (0,))[0]
    ]
    assert found.low < bad[0] <= found.high


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, Word.INSIDE),
        ({"network.rate": "25Gbps"}, Word.NEAR),
        ({"network.rate": "400Gbps"}, Word.OUTSIDE),
        ({"transport.congestion_control": "bbr"}, Word.OUTSIDE),
        ({"profile": "linux", "transport.name": "cubic"}, Word.NEAR),
        ({"profile": "linux", "transport.recovery": "newreno"}, Word.OUTSIDE),
        ({"background": [{"name": "cbr", "rate": "1Mbps"}]}, Word.OUTSIDE),
    ],
)
def test_the_envelope_is_one_of_three_words(changes: dict[str, object], word: Word) -> None:
    scenario = incast.load(READ)
    for key, value in changes.items():
        scenario = scenario.override(key, value)
    envelope = envelope_of(case_of(scenario))
    assert envelope.word is word
    assert (Path(__file__).parents[2] / envelope.page).is_file()


def test_the_pages_of_studies_exist() -> None:
    for study in STUDIES:
        assert (Path(__file__).parents[2] / study.page).is_file(), study.name
