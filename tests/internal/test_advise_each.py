"""Advice for a sweep: an answer per value, or a single answer for a sweep over servers."""

from pathlib import Path

import pytest

import incast
from incast import ScenarioError
from incast.advise.case import SERVERS
from incast.advise.each import MOST, values_of

SHIPPED = Path(incast.__file__).parent / "scenarios"


def test_each_value_of_a_sweep_is_a_case_of_its_own() -> None:
    scenario = incast.load("storage-read").override("sweep.transport.rto_min", ["200ms", "1ms"])
    each = values_of(scenario)
    assert [name for name, _ in each] == ["transport.rto_min = 200ms", "transport.rto_min = 1ms"]
    for (_, one), seconds in zip(each, (0.2, 0.001), strict=True):
        assert set(one.plan.swept) == {"workload.servers"}
        assert {point.here.rto_min for point in one.plan.points} == {seconds}


def test_a_sweep_over_servers_is_one_answer_without_a_name() -> None:
    ((name, one),) = values_of(incast.load("storage-read"))
    assert (name, set(one.plan.swept)) == ("", {"workload.servers"})


def test_values_that_are_tables_and_of_several_types_are_those_of_the_document() -> None:
    tables = ["newreno", {"name": "nccs", "k": 4}]
    scenario = incast.load("storage-read").override("sweep.transport.name", tables)
    ((_, plain), (name, nccs)) = values_of(scenario)
    assert plain.plan.points[0].resolved["transport"]["name"] == "newreno"
    assert name == 'transport.name = {"k":4,"name":"nccs"}'
    assert nccs.plan.points[0].resolved["transport"]["name"] == "nccs"


@pytest.mark.parametrize("name", sorted(it.stem for it in SHIPPED.glob("*.toml")))
def test_every_shipped_sweep_has_valid_values(name: str) -> None:
    scenario = incast.load(name)
    swept = {key: value for key, value in scenario.plan.points[0].swept.items() if key != SERVERS}
    if len({tuple(point.swept[key] for key in swept) for point in scenario.plan.points}) <= MOST:
        for _, one in values_of(scenario):
            assert set(one.plan.swept) <= {SERVERS}


def test_too_many_values_are_refused() -> None:
    values = [f"{count}ms" for count in range(1, MOST + 2)]
    scenario = incast.load("storage-read").override("sweep.transport.rto_min", values)
    with pytest.raises(ScenarioError, match=r"more than 24 values.* value with --set transport"):
        values_of(scenario)
