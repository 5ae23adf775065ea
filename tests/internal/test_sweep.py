"""Sweeps: the same rows with any number of threads, progress, Ctrl-C."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import SMALL, Command, document
from incast import _core
from incast.results.frames import Run
from incast.results.store import Memory
from incast.scenario.plan import Job
from incast.sweep.execute import run_jobs
from incast.sweep.forecast import forecast
from incast.sweep.progress import Estimate, Progress


def test_rows_do_not_depend_on_the_number_of_threads(sweep: Path) -> None:
    one, two, again = (incast.run(sweep, jobs=jobs) for jobs in (1, 2, 2))
    rows = one.frame(group=None).drop("wall_s")
    assert rows.equals(two.frame(group=None).drop("wall_s"))
    assert rows.equals(again.frame(group=None).drop("wall_s"))


def test_traces_do_not_depend_on_the_number_of_threads(sweep: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        incast.run(sweep, jobs=jobs, out=tmp_path / str(jobs), traces=["queue", "cwnd", "events"])
    for table in ("queues", "flows", "events"):
        for file in (tmp_path / "1" / table).iterdir():
            assert file.read_bytes() == (tmp_path / "2" / table / file.name).read_bytes()


def test_tracing_changes_no_row(sweep: Path) -> None:
    plain = incast.run(sweep).frame().drop("wall_s")
    traced = incast.run(sweep, traces=["queue:full", "cwnd:full", "events"]).frame()
    assert plain.equals(traced.drop("wall_s"))


def test_progress_ends_with_everything_done(sweep: Path) -> None:
    seen: list[Progress] = []
    incast.run(sweep, progress=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (6, 6, 1.0)
    assert seen[-1].remaining == 0


def test_the_estimate_goes_by_what_the_other_seeds_of_a_point_took() -> None:
    slow, quick = incast.load(document(sweep={"workload.servers": [4, 8]})).plan.points
    first, second, third = (Job(0, slow, seed, "") for seed in (1, 2, 3))
    other = Job(1, quick, 1, "")
    estimate = Estimate(2, [first, second, third, other], kept=1)
    assert estimate.progress().remaining is None
    estimate.finished(first, 8.0)
    state = estimate.progress({second.key: 0.5})
    # The run of the other point has twice the packets.
    assert state.remaining == pytest.approx((8 * 0.5 + 8 + 16) / 2)
    estimate.finished(second, None)  # another process did this run
    estimate.finished(other, 2.0)
    state = estimate.progress()
    assert state.remaining == pytest.approx(8 / 2)
    assert state.share == pytest.approx(10 / 18)
    assert (state.done, state.total) == (4, 5)


def test_an_interrupt_keeps_what_finished(sweep: Path, tmp_path: Path) -> None:
    def interrupt(state: Progress) -> None:
        if state.done:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    long = incast.load(sweep).override("run.seeds", 200).override("workload.blocks", 60)
    with pytest.raises(incast.Interrupted) as stopped:
        incast.run(long, jobs=1, out=out, progress=interrupt)
    kept = stopped.value.results.frame().height
    assert 0 < kept < stopped.value.total == 600
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert pl.read_parquet(out / "runs").height == kept


def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(tmp_path: Path, command: Command) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(SMALL.replace("blocks = 2", "blocks = 400").replace("seeds = 2", "seeds = 500"))
    process = subprocess.Popen(
        [sys.executable, "-m", "incast", "run", path, "--out", out],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(out.glob("runs/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.count("\n") == 1
    assert "of 500 runs had finished and are kept" in err
    assert "run the same command again to continue" in err
    assert not list(out.rglob("*.tmp"))
    kept = {file: file.stat().st_mtime_ns for file in out.glob("runs/*.parquet")}
    assert 0 < len(kept) < 500
    assert command("run", path, "--out", out, "--seeds", max(2, len(kept) // 2)).code == 0
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_ctrl_c_cancels_what_runs(tmp_path: Path) -> None:
    path = tmp_path / "endless.toml"
    path.write_text(SMALL.replace("blocks = 2", "blocks = 100000000"))  # takes about an hour
    script = (
        "import incast, sys, threading\n"
        "def begun(state):\n"
        "    if state.share > 0: raise KeyboardInterrupt\n"
        "try: incast.run(sys.argv[1], jobs=2, progress=begun)\n"
        "except incast.Interrupted as stopped: print(len(stopped.results), stopped.total)\n"
        "for thread in threading.enumerate():\n"
        "    if thread.name.startswith('incast'): thread.join(30)\n"
        "print(threading.active_count())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == "0 2\n1\n"  # no run and no thread continues


def test_the_key_of_a_run_is_of_all_that_it_depends_on(sweep: Path) -> None:
    jobs = list(incast.load(sweep).plan.jobs())
    other_engine = [replace(job, engine="0.0.0+0") for job in jobs]
    title = incast.load(sweep).override("title", "Another")
    assert len({job.key for job in [*jobs, *other_engine]}) == 2 * len(jobs) == 12
    assert [job.key for job in title.plan.jobs()] == [job.key for job in jobs]


class Beside(Memory):
    """A store that is shared with a process that stores a run whenever this process starts one."""

    def __init__(self, scenario: incast.Scenario) -> None:
        super().__init__()
        self.other = list(scenario.plan.jobs())
        self.twice = self.ours = 0

    def start(self, job: Job) -> None:
        """Let the other process do the next missing run when this process starts a run."""
        left = [it for it in self.other if not self.has(it)]
        theirs = left[0] if left else job
        self.put([Run(theirs, _core.run(theirs.point.scenario, theirs.seed))])
        self.ours += 1
        self.twice += theirs.key == job.key


def test_two_that_keep_step_part_ways(sweep: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = incast.load(sweep).override("run.seeds", 50)
    store, run = Beside(scenario), _core.run
    jobs = {(id(job.point.scenario), job.seed): job for job in scenario.plan.jobs()}

    def beside(point: _core.Scenario, seed: int, *others: object) -> object:
        with monkeypatch.context() as patch:
            patch.setattr(_core, "run", run)
            store.start(jobs[id(point), seed])
        return run(point, seed, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "run", beside)
    random.seed(7)
    run_jobs(scenario.plan.jobs(), store, workers=1)
    assert store.twice >= 1  # both processes do the first run
    assert store.twice < 0.1 * store.ours
    assert store.ours < 100  # of 150 runs, about half of which the other process did


def test_sweeps_in_memory_keep_columns(sweep: Path) -> None:
    store, scenario = Memory(), incast.load(sweep).override("run.seeds", 300)
    first = next(scenario.plan.jobs())
    output = _core.run(first.point.scenario, 1)
    for job in scenario.plan.jobs():
        store.put([Run(job, output)])
        store.put([Run(job, output)])  # a run that is put twice counts once
    assert len(store._loose) < 200
    assert len(store._rows) >= 4
    rows = store.rows(scenario.plan.jobs())
    assert rows is not None
    assert rows.height == 900
    assert sorted(rows["run"]) == sorted(job.key for job in scenario.plan.jobs())
    assert store.rows([first])["seed"].to_list() == [1]  # type: ignore[index]


def test_without_a_terminal_nothing_but_results_is_printed(command: Command, sweep: Path) -> None:
    assert command("run", sweep).err == ""


@pytest.mark.parametrize("jobs", [0, -5, 1.5, True, "two"])
def test_a_forecast_refuses_what_is_no_number_of_jobs(small: Path, jobs: int) -> None:
    with pytest.raises(incast.ResultsError, match="jobs: must be a whole number of at least 1"):
        forecast(incast.load(small), jobs=jobs)


def test_a_forecast_refuses_what_is_no_trace(small: Path) -> None:
    with pytest.raises(incast.ResultsError, match="no trace 'foo'; choose from queue, cwnd"):
        forecast(incast.load(small), traces=["foo"])
