"""The division of a sweep into parts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import document
from incast import load, run
from incast.results import archive
from incast.results.merge import merge
from incast.sweep.shard import Shard
from incast.sweep.work import cost

COSTS = st.lists(st.integers(1, 10**6), min_size=1, max_size=30)


@given(costs=COSTS, times=st.integers(1, 9), count=st.integers(1, 40))
def test_parts_are_even_and_have_every_run_once(costs: list[int], times: int, count: int) -> None:
    parts = [Shard(number, count).cut(costs, times) for number in range(1, count + 1)]
    every = costs * times
    assert [run for part in parts for run in part] == list(range(len(every)))
    for part in parts:
        assert sum(every[run] for run in part) <= sum(every) / count + max(costs)


@given(costs=COSTS, times=st.integers(1, 9), count=st.integers(1, 40))
def test_repeated_costs_are_cut_as_if_written_out(costs: list[int], times: int, count: int) -> None:
    for number in range(1, count + 1):
        shard = Shard(number, count)
        assert shard.cut(costs, times) == shard.cut(costs * times)


def test_a_part_depends_on_the_estimated_work() -> None:
    plan = load(document(sweep={"workload.servers": [2, 60, 4]}, run={"seeds": 1})).plan
    costs = [cost(point.here) for point in plan.points]
    assert costs[1] > 2 * (costs[0] + costs[2])
    assert [Shard(n, 3).of(plan) for n in (1, 2, 3)] == [range(1), range(1, 2), range(2, 3)]
    assert Shard(1, 1).of(plan) == range(3)


def test_equal_points_run_once_in_one_part() -> None:
    plan = load(document(sweep={"workload.servers": [2, 4, 2]}, run={"seeds": 3})).plan
    runs = list(plan.runs())
    assert [(job.index, job.seed) for job in runs] == [
        (index, seed) for seed in (1, 2, 3) for index in (2, 1)
    ]
    jobs = {job.key: job for job in plan.jobs()}
    assert runs == list(jobs.values())
    assert Shard(2, 2).among(plan.jobs()) == runs[Shard(2, 2).of(plan).start :]


def test_merged_packs_are_cut_in_the_order_of_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PACK", 7)
    scenario = load(document(sweep={"workload.servers": [2, 4, 8]}, run={"seeds": 9}))
    run(scenario, out=tmp_path / "whole")
    for number in (2, 4, 1, 3):
        run(scenario, out=tmp_path / f"{number}", shard=f"{number}/4")
        run(scenario, out=tmp_path / "shared", shard=f"{number}/4")
    merge(tmp_path / "merged", [tmp_path / f"{number}" for number in (3, 1, 4, 2)])
    merge(tmp_path / "shared")
    whole, merged, shared = (
        {file.name: file.read_bytes() for file in (tmp_path / name / "runs").iterdir()}
        for name in ("whole", "merged", "shared")
    )
    assert len(whole) == 4
    assert merged == whole
    assert shared == whole


def test_a_shard_fills_the_packs_of_the_whole_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PACK", 5)
    scenario = load(document(run={"seeds": 30}))
    run(scenario, out=tmp_path / "whole")
    run(scenario, out=tmp_path / "part", shard="2/4")
    assert Shard(2, 4).of(scenario.plan) == range(7, 15)
    whole = {file.name for file in (tmp_path / "whole" / "runs").iterdir()}
    part = {file.name for file in (tmp_path / "part" / "runs").iterdir()}
    assert len(part & whole) == 1  # a whole pack: runs 10 to 14
    assert len(part - whole) == 1  # a part of a pack: runs 7 to 9
