"""Long traces, which are stored in parts during their run."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incast
from incast import _core
from incast.errors import ResultsError
from incast.results import frames
from incast.results.store import Memory

LONG: dict[str, Any] = {
    "network": {"rate": "10Gbps", "delay": "5us", "buffer": "64KB"},
    "workload": {"servers": 16, "sru": "256KB", "blocks": 30},
    "run": {"seeds": 1},
}
TRACES = ["queue:full", "cwnd:full"]


@pytest.fixture(scope="module")
def whole() -> dict[str, pl.DataFrame]:
    """Return the traces of a run that is not divided into parts."""
    job = next(incast.load(LONG).plan.jobs())
    output = _core.run(job.point.scenario, job.seed, TRACES)
    return frames.traces(frames.Run(job, output))


def test_parts_are_files_and_together_the_trace(
    whole: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    incast.run(LONG, out=tmp_path / "out", traces=TRACES)
    results = incast.open_results(tmp_path / "out")
    job = results.traces.find({})[0]
    assert len(list((tmp_path / "out" / "queues").iterdir())) > 1
    assert results.traces.of("queue", job).equals(whole["queues"])
    windows = results.traces.of("cwnd", job)
    assert windows.sort("flow", maintain_order=True).equals(whole["flows"])


def test_memory_puts_the_parts_together(whole: dict[str, pl.DataFrame]) -> None:
    results = incast.run(LONG, traces=TRACES)
    assert results.traces.of("queue", results.traces.find({})[0]).equals(whole["queues"])


def test_parts_of_a_cancelled_run_are_replaced() -> None:
    job = next(incast.load(LONG).plan.jobs())
    store = Memory()
    for number, time in ((1, 0.0), (2, 1.0), (1, 2.0)):
        store.put_part(job, "queues", number, {"time_s": [time]})
    last = {"rows": [], "queues": {"time_s": [3.0]}}
    store.put_traces(frames.Run(job, last))
    found = store.trace("queues", job)
    assert found is not None
    assert found["time_s"].to_list() == [2.0, 3.0]


def test_an_error_of_the_one_who_takes_parts_ends_the_run() -> None:
    job = next(incast.load(LONG).plan.jobs())

    def full(_table: str, _columns: dict[str, Any]) -> None:
        raise ResultsError("out: cannot be written to: No space left on device")

    with pytest.raises(ResultsError, match="No space"):
        _core.run(job.point.scenario, job.seed, TRACES, None, full)
