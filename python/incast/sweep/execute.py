"""Runs a plan on threads; the engine releases the interpreter's lock."""

import os
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Semaphore, Thread
from typing import Any

from incast import _core
from incast.errors import ResultsError
from incast.outcome import Results
from incast.results.archive import PACK
from incast.results.frames import Run
from incast.results.remote import located
from incast.results.store import Directory, Memory, Store
from incast.results.traces import checked, parse
from incast.scenario import Scenario, load
from incast.scenario.plan import Job
from incast.sweep import cluster
from incast.sweep.backend import SIMULATOR, Backend, Control, Spill
from incast.sweep.cluster import THREADS
from incast.sweep.progress import Estimate, Progress
from incast.sweep.rounds import refine
from incast.sweep.shard import Shard

_TICK = 0.1  # seconds between two checks of the runs under way, and between two batches
_BACKLOG = 2000  # finished runs that may wait to be stored
_WAYS = 64  # pieces of a sweep; each process of a shared sweep runs them in a different order
_PATIENCE = 0.3  # seconds for runs to notice that they were cancelled


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: the sweep ended early; finished runs are stored.

    Parameters
    ----------
    results
        The results of the finished runs.
    total
        The number of requested runs.
    """

    def __init__(self, results: Results, total: int) -> None:
        super().__init__(f"{len(results)} of {total} runs finished")
        self.results = results
        self.total = total


def run(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    seeds: int | Sequence[int] | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    traces: str | Iterable[str] = (),
    progress: Callable[[Progress], None] | None = None,
    shard: str | None = None,
    executor: str = THREADS,
    backend: Backend = SIMULATOR,
) -> Results:
    """Run every point of a scenario at every seed.

    Parameters
    ----------
    scenario
        A scenario, or an argument of `load`.
    seeds
        A number n for the seeds 1 to n, or a list of seeds; by default the seeds of `run.seeds`.
    jobs
        Number of parallel runs, at least 1; by default the number of processors.
    out
        Directory for the results: a path, or an address such as `s3://bucket/mine`. Runs that the
        directory already contains are not repeated.
    traces
        Traces to record: `queue`, `cwnd`, `events`. With `:full`, as in `queue:full`, a trace
        contains every change instead of the extremes of each bin.
    progress
        A function that is called about ten times a second, in the calling thread.
    shard
        `i/n` to run only part i of n parts of the sweep. All parts have about the same estimated
        work. A shard needs `out`. `incast merge` merges the directories of all parts.
    executor
        The executor of the runs: `threads` of this process, `dask` for a cluster of processes on
        this machine, or the address of a Dask scheduler, such as `tcp://host:8786`.
    backend
        The simulator, or another backend, which runs on threads.

    Returns
    -------
    Results
        One row per point, seed and group, and the traces.

    Raises
    ------
    ScenarioError
        The scenario is not valid. Nothing has been written.
    ResultsError
        `out` cannot be written to or contains the results of another scenario; or an argument
        (`traces`, `jobs`, `shard`, `executor`) is not valid; or the scheduler has ended.
    Interrupted
        Ctrl-C was pressed; the exception's `results` contains the finished runs.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    if seeds is not None:
        scenario = scenario.override("run.seeds", seeds if isinstance(seeds, int) else list(seeds))
    if backend is not SIMULATOR:
        scenario = replace(scenario, engine=backend.version)
    check_jobs(jobs)
    cluster.check(executor)
    part = Shard.parse(shard) if shard is not None else None
    if part is not None and out is None:
        raise ResultsError("shard: needs a directory for its results")
    plan = scenario.plan
    if part is not None and plan.precision is not None:
        raise ResultsError(
            "shard: cannot be combined with run.precision, which needs the results of all parts"
        )
    some = part.of(plan) if part is not None else None
    asked = parse(traces) if isinstance(traces, str) else checked(traces)
    store = Directory.create(located(out), scenario, asked) if out is not None else Memory()

    try:
        with cluster.connected(executor, jobs or processors()) as elsewhere:

            def do(wanted: Iterable[Job], first: int = 0) -> None:
                run_jobs(
                    wanted,
                    store,
                    traces=asked,
                    workers=jobs,
                    progress=progress,
                    first=first,
                    elsewhere=elsewhere,
                    backend=backend,
                )

            if plan.precision is not None:
                plan = refine(plan, store, do, store.widen)
            else:
                do(plan.runs(some), some.start if some is not None else 0)
    except KeyboardInterrupt:
        store.close("interrupted")
        raise Interrupted(Results(plan, store), len(plan.points) * len(plan.seeds)) from None
    except _core.ScenarioError as error:
        raise scenario.error(error) from None
    store.close("complete" if part is None else "partial")
    return Results(plan, store)


def run_jobs(
    jobs: Iterable[Job],
    store: Store,
    *,
    traces: Sequence[str] = (),
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    backend: Backend = SIMULATOR,
    first: int = 0,
    elsewhere: "cluster.Cluster | None" = None,
) -> None:
    """Run the jobs that `store` does not have yet, several in parallel, on a backend.

    `first` is the index of the first job in the whole sweep. If `elsewhere` is a cluster, the
    cluster's workers run the jobs, not `backend`.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C was pressed; finished runs are stored. A run that has not ended when this
        exception is raised ends soon afterwards, and its row is not stored.
    ScenarioError
        The core refused a job.
    """
    distinct = {job.key: job for job in jobs}
    todo = [job for job in distinct.values() if not store.has(job, traces)]
    store.expect(list(distinct.values()), first)
    at_once = elsewhere.threads if elsewhere is not None else workers or processors()
    workers = min(at_once, max(len(todo), 1))
    estimate = Estimate(workers, todo, kept=len(distinct) - len(todo))
    if elsewhere is not None:

        def report_of_batches(finished: Iterable[cluster.Finished]) -> None:
            for job, seconds in finished:
                estimate.finished(job, seconds)
            if progress is not None:
                progress(estimate.progress())

        elsewhere.run(todo, store, traces, report_of_batches)
        return
    sweep = _Sweep(store, traces, todo, backend)

    def report(finished: Iterable[_Finished]) -> None:
        for one in finished:
            estimate.finished(one.job, one.seconds)
        if progress is not None:
            progress(estimate.progress(sweep.shares()))

    sweep.run(workers, report)


def check_jobs(jobs: int | None) -> None:
    """Refuse an invalid number of parallel runs.

    Raises
    ------
    ResultsError
        `jobs` is not a whole number of at least 1.
    """
    if jobs is None:
        return
    if isinstance(jobs, bool) or not isinstance(jobs, Integral) or jobs < 1:
        raise ResultsError(f"jobs: must be a whole number of at least 1, not {jobs!r}")


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class _Finished:
    """A finished job; `run` and `seconds` are None if another process has run the job."""

    job: Job
    run: Run | None = None
    seconds: float | None = None


class _Sweep:
    """Runs jobs on threads, and stops them on request.

    Threads simulate and store traces. The calling thread stores the rows in batches, because a
    file, or a table in memory, costs a hundred times as much as a row.
    """

    def __init__(
        self, store: Store, traces: Sequence[str], todo: Sequence[Job], backend: Backend
    ) -> None:
        self.store = store
        self.backend = backend
        self.traces = traces
        self.todo = list(reversed(todo))
        self.taking = Lock()
        self.stopped = Event()
        self.controls: dict[str, Control] = {}
        self.finished: deque[_Finished] = deque()
        self.room = Semaphore(_BACKLOG)  # for finished runs that are not stored yet
        self.ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def run(self, workers: int, report: Callable[[Iterable[_Finished]], None]) -> None:
        """Run and store the jobs, calling `report` regularly, until all have ended."""
        # The threads are daemons, so the interpreter can end while they run.
        threads = [
            Thread(target=self.work, name=f"incast_{i}", daemon=True) for i in range(workers)
        ]
        try:
            for thread in threads:
                thread.start()
            left = workers
            stored = time.monotonic()
            while left:
                try:
                    failure = self.ended.get(timeout=_TICK)
                except Empty:
                    pass
                else:
                    left -= 1
                    if failure is not None:
                        raise failure
                full = len(self.finished) >= _BACKLOG // 2
                if full or not left or time.monotonic() >= stored + self.store.pace:
                    report(self.keep())
                    stored = time.monotonic()
                else:
                    report(())
        except BaseException:
            self.stop(threads)
            raise

    def keep(self) -> list[_Finished]:
        """Store the finished runs; return all finished jobs."""
        batch = [self.finished.popleft() for _ in range(len(self.finished))]
        runs = [one.run for one in batch if one.run is not None]
        for _ in runs:
            self.room.release()
        if runs:
            self.store.put(runs)
        self.store.pass_over(one.job for one in batch if one.run is None)
        return batch

    def stop(self, threads: Sequence[Thread]) -> None:
        """Cancel running jobs, wait briefly for them to end, and store those that have finished."""
        self.stopped.set()
        for control in list(self.controls.values()):
            control.cancel()
        deadline = time.monotonic() + _PATIENCE
        for thread in threads:
            if thread.is_alive():
                thread.join(max(deadline - time.monotonic(), 0))
        with suppress(ResultsError):  # the sweep has ended already, by this error or by Ctrl-C
            self.keep()

    def work(self) -> None:
        """Run one job after the other until none is left."""
        try:
            while (job := self.next()) is not None:
                self.finished.append(self.one(job))
        except BaseException as failure:  # noqa: BLE001 (the waiting thread raises it)
            self.ended.put(failure)
        else:
            self.ended.put(None)

    def next(self) -> Job | None:
        """Take the next job."""
        with self.taking:
            return self.todo.pop() if self.todo and not self.stopped.is_set() else None

    def part_ways(self) -> None:
        """Shuffle the remaining jobs, so that two processes do not run the same jobs at once."""
        with self.taking:
            size = max(min(len(self.todo) // _WAYS, PACK), 1)  # neighbours share a pack
            pieces = [self.todo[at : at + size] for at in range(0, len(self.todo), size)]
            random.shuffle(pieces)
            self.todo = [job for piece in pieces for job in piece]

    def one(self, job: Job) -> _Finished:
        """Run one job, unless another process has done it."""
        control = self.controls[job.key] = self.backend.control()
        try:
            if self.store.has(job, self.traces):
                return _Finished(job)
            start = time.monotonic()
            output = self.backend.run(job.point, job.seed, self.traces, control, self.spill_of(job))
            seconds = time.monotonic() - start
            if self.store.has(job, self.traces):
                self.part_ways()
                return _Finished(job)
            run = Run(job, output)
            if self.traces:
                self.store.put_traces(run)
            self.room.acquire()
            return _Finished(job, run, seconds)
        finally:
            del self.controls[job.key]

    def spill_of(self, job: Job) -> Spill:
        """Return a function that stores the parts of a job's long traces."""
        numbers: Counter[str] = Counter()

        def put(table: str, columns: dict[str, Any]) -> None:
            numbers[table] += 1
            self.store.put_part(job, table, numbers[table], columns)

        return put

    def shares(self) -> dict[str, float]:
        """Return the completed share of each running job, by its key."""
        return {key: control.progress for key, control in list(self.controls.items())}
