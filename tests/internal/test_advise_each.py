"""Advice for a sweep: an answer for each value, and one for the largest number of servers."""

import pytest

import incast
from incast import ScenarioError
from incast.advise.each import MOST, values_of


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


def test_too_many_values_are_refused() -> None:
    values = [f"{count}ms" for count in range(1, MOST + 2)]
    scenario = incast.load("storage-read").override("sweep.transport.rto_min", values)
    with pytest.raises(ScenarioError, match=r"more than 24 values.* value with --set transport"):
        values_of(scenario)
