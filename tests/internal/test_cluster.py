"""Sweeps on a Dask cluster give the same files, even if a worker dies."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import distributed
import pytest

import incast
from conftest import Command, document, said
from incast.results.store import Memory
from incast.sweep import cluster
from incast.sweep.execute import run_jobs

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's warnings about its own processes


@pytest.fixture(scope="module")
def here() -> Iterator[distributed.LocalCluster]:
    """Start a scheduler and two workers, each worker in a separate process."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as running:
        yield running


def stored(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (out / "runs").iterdir()}


def several(seeds: int, blocks: int = 2) -> incast.Scenario:
    tree = document(
        sweep={"workload.servers": [2, 8, 16]}, run={"seeds": seeds}, workload={"blocks": blocks}
    )
    return incast.load(tree)


def test_the_files_are_those_of_threads(
    here: distributed.LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incast.results.archive.PACK", 50)
    scenario, seen = several(60), []
    incast.run(scenario, out=tmp_path / "threads")
    there = incast.run(
        scenario, out=tmp_path / "dask", executor=here.scheduler_address, progress=seen.append
    )
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")
    assert there.frame()["wall_s"].min() > 0
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (180, 180, 1.0)


def test_traces_come_back_too(here: distributed.LocalCluster, tmp_path: Path) -> None:
    scenario = several(2)
    for name, executor in (("threads", "threads"), ("dask", here.scheduler_address)):
        incast.run(scenario, out=tmp_path / name, traces="queue,events", executor=executor)
    for table in ("queues", "events"):
        for file in (tmp_path / "threads" / table).iterdir():
            assert file.read_bytes() == (tmp_path / "dask" / table / file.name).read_bytes()


def test_workers_that_are_killed_lose_nothing(
    here: distributed.LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_WORK", 0.05)
    scenario = several(300, blocks=20)
    incast.run(scenario, out=tmp_path / "threads")
    killed, chance = [], random.Random(2)

    def kill(state: incast.sweep.progress.Progress) -> None:
        if len(killed) < 3 and state.done > 150 * (len(killed) + 1):
            workers = [worker.pid for worker in here.workers.values() if worker.pid]
            if workers:
                killed.append(chance.choice(workers))
                os.kill(killed[-1], signal.SIGKILL)

    incast.run(scenario, out=tmp_path / "dask", executor=here.scheduler_address, progress=kill)
    assert len(killed) == 3
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")


def test_workers_that_come_and_go_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_WORK", 0.05)
    scenario = several(100, blocks=20)
    incast.run(scenario, out=tmp_path / "threads")
    with distributed.LocalCluster(
        n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    ) as none:
        none.adapt(minimum=0, maximum=2, interval="100ms")
        incast.run(scenario, out=tmp_path / "dask", executor=none.scheduler_address)
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")


def test_an_interrupted_sweep_goes_on(
    here: distributed.LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_WORK", 0.05)
    scenario = several(300, blocks=20)

    def stop(state: incast.sweep.progress.Progress) -> None:
        if state.done:
            raise KeyboardInterrupt

    with pytest.raises(incast.Interrupted) as stopped:
        incast.run(scenario, out=tmp_path / "dask", executor=here.scheduler_address, progress=stop)
    assert 0 < len(stopped.value.results) < 900
    incast.run(scenario, out=tmp_path / "dask", executor=here.scheduler_address)
    incast.run(scenario, out=tmp_path / "threads")
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")


def test_seeds_for_a_precision_are_added_there_too(
    here: distributed.LocalCluster, tmp_path: Path
) -> None:
    scenario = incast.load(
        document(
            workload={"sru": "64KiB", "blocks": 4, "request_jitter": "50us"},
            run={"seeds": 4, "precision": 0.1, "most_seeds": 16},
            sweep={"workload.servers": [1, 6, 12]},
        )
    )
    found = [
        incast.run(scenario, out=tmp_path / name, executor=executor)
        for name, executor in (("threads", "threads"), ("dask", here.scheduler_address))
    ]
    assert len(found[0]) == len(found[1]) > 12
    assert found[0].notes == found[1].notes
    assert stored(tmp_path / "dask") == stored(tmp_path / "threads")


def test_what_kills_its_workers_is_tried_in_halves(
    here: distributed.LocalCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    died = []
    result = cluster._Round.result

    def unlucky(self: object, future: distributed.Future, jobs: list, attempt: int) -> list:
        if len(jobs) > 3:
            died.append(len(jobs))

            def fail(timeout: float) -> None:
                raise distributed.KilledWorker("task", None, 4)

            monkeypatch.setattr(future, "result", fail, raising=False)
        return result(self, future, jobs, attempt)

    monkeypatch.setattr(cluster._Round, "result", unlucky)
    found = incast.run(several(4), executor=here.scheduler_address)
    assert died == [12, 6, 6]
    assert found.frame().drop("wall_s").equals(incast.run(several(4)).frame().drop("wall_s"))
    monkeypatch.setattr(cluster, "_ATTEMPTS", 1)
    with pytest.raises(incast.ResultsError, match="workers ended 1 times at the same runs"):
        incast.run(several(4), executor=here.scheduler_address)


def test_a_scheduler_that_goes_leaves_what_was_done(tmp_path: Path) -> None:
    scenario = several(2000, blocks=20)
    running = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    )

    def stop(state: incast.sweep.progress.Progress) -> None:
        if state.done and not stopped:
            stopped.append(threading.Thread(target=running.close))
            stopped[0].start()

    stopped: list[threading.Thread] = []
    begin = time.monotonic()
    with pytest.raises(incast.ResultsError, match="the scheduler is gone; finished runs are"):
        incast.run(
            scenario, out=tmp_path / "out", executor=running.scheduler_address, progress=stop
        )
    assert time.monotonic() - begin < 60
    stopped[0].join()
    assert 0 < len(incast.open_results(tmp_path / "out")) < 6000


def test_batches_are_of_two_seconds_and_the_longest_first() -> None:
    plan = several(400).plan
    costs = cluster._Costs()
    slow = {2: 0.01, 8: 0.1, 16: 1.0}
    jobs = list(plan.runs())
    for job in jobs[:3]:
        costs.measured(job, slow[job.point.swept["workload.servers"]])
    batches = list(costs.batches(jobs))
    assert sorted(job.key for batch in batches for job in batch) == sorted(job.key for job in jobs)
    work = [sum(slow[job.point.swept["workload.servers"]] for job in batch) for batch in batches]
    assert min(work[:-1]) >= 1.9
    assert max(work) <= 3.1
    sizes = [len(batch) for batch in batches]
    assert sizes[0] == 2
    assert sizes[-2] > 150


def test_batches_go_by_what_was_measured_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_WORK", 0.01)
    jobs = list(several(100).plan.runs())
    costs = cluster._Costs()
    batches = costs.batches(jobs)
    first = next(batches)
    for job in first:
        costs.measured(job, 1.0)
    assert len(first) > 1
    assert len(next(batches)) == 1


def test_a_worker_with_another_engine_is_refused(here: distributed.LocalCluster) -> None:
    from dataclasses import replace

    jobs = [replace(job, engine="0.0.0+0") for job in several(1).plan.runs()]
    with (
        cluster.connected(here.scheduler_address, 1) as there,
        pytest.raises(incast.ResultsError, match=r"has engine .*, but this machine has 0\.0\.0"),
    ):
        run_jobs(jobs, Memory(), elsewhere=there)


def test_a_local_cluster_is_started_and_ended(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    told = command("run", sweep, "--executor", "dask", "--jobs", "2", "--out", tmp_path / "out")
    assert (told.code, told.err) == (0, "")
    assert told.out == command("run", sweep).out


def test_a_client_that_cannot_begin_is_one_line_and_does_not_wait(sweep: Path) -> None:
    """If the client were not closed, it would wait for itself when the process ends."""
    arguments = [sys.executable, "-m", "incast", "run", str(sweep), "--executor", "inproc://x"]
    done = subprocess.run(arguments, check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("incast: executor: inproc://x: no scheduler answers: ")
    assert done.stderr.count("\n") == 1


def test_mistakes_are_one_line(
    command: Command, sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = said(command("run", sweep, "--executor", "spark"))
    assert "must be threads, dask, or the address of a scheduler, e.g. tcp://host:8786" in line
    monkeypatch.setattr(cluster, "_PATIENCE", 0.2)
    line = said(command("run", sweep, "--executor", "tcp://127.0.0.1:1"))
    assert "tcp://127.0.0.1:1: no scheduler answers" in line
    monkeypatch.setitem(sys.modules, "distributed", None)
    line = said(command("run", sweep, "--executor", "dask"))
    assert line.endswith("needs Dask, which is not installed; pip install 'incast[dask]'\n")
