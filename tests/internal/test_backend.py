"""A backend other than the simulator, which calculates rows with the simulator's columns."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import incast
from conftest import document
from incast import _core
from incast.results import Results
from incast.results.store import Memory
from incast.scenario.plan import Point
from incast.sweep.backend import Spill
from incast.sweep.execute import run_jobs


class Done:
    """The handle of a run that takes no time."""

    progress = 1.0

    def cancel(self) -> None:
        """Do nothing."""


class Arithmetic:
    """A backend in which a read takes as long as its bytes take on the client's link."""

    version = "arithmetic 1"

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def control(self) -> Done:
        return Done()

    def run(
        self, point: Point, seed: int, traces: Sequence[str], control: Done, spill: Spill
    ) -> dict[str, Any]:
        assert not traces
        assert control.progress == 1
        self.asked.append((point.here.servers, seed))
        names = [column["name"] for column in json.loads(_core.columns("rows"))]
        row: dict[str, Any] = {name: 0 for name in names if "." not in name}
        row |= {"seed": seed, "group": "all", "status": "ok", "blocks": 1, "fairness": None}
        row |= {"goodput_bps": point.here.line_rate, "stall_max_s": None, "wall_s": 0.0}
        row |= {name: point.here.ideal for name in names if name.startswith("completion")}
        return {"rows": [row | {"completions_s": [point.here.ideal]}]}


def test_results_do_not_care_who_made_them() -> None:
    scenario = incast.load(document() | {"sweep": {"workload.servers": [2, 4, 8]}})
    backend = Arithmetic()
    plan = replace(scenario.plan, engine=backend.version)
    store = Memory()
    run_jobs(plan.jobs(), store, backend=backend)
    assert {servers for servers, _ in backend.asked} == {2, 4, 8}
    results = Results(plan, store)
    frame = results.frame()
    assert frame["goodput_bps"].unique().to_list() == [1e9]
    assert results.summary()["timeouts"].to_list() == [0, 0, 0]
    simulated = {job.key for job in scenario.plan.jobs()}
    assert not simulated & {job.key for job in plan.jobs()}, "each keeps its own runs"
