"""Runs a plan on threads: the engine releases the interpreter's lock."""

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from typing import Any

from incast import _core
from incast.results import Results
from incast.results.store import Directory, Memory, Store
from incast.scenario import Scenario, load
from incast.scenario.plan import Job
from incast.sweep.progress import Estimate, Progress

_TICK = 0.1  # seconds between two looks at the runs under way


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: the sweep ended early, and what had finished is kept.

    Parameters
    ----------
    results
        The results of the finished runs.
    total
        How many runs were asked for.
    """

    def __init__(self, results: Results, total: int) -> None:
        super().__init__(f"{len(results.store)} of {total} runs finished")
        self.results = results
        self.total = total


def run(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    traces: Iterable[str] = (),
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run every point of a scenario at every seed.

    Parameters
    ----------
    scenario
        A scenario, or what `load` makes one of.
    jobs
        How many runs go side by side; by default as many as there are processors.
    out
        Directory to keep the results in, run by run. What it already holds is not run again.
    traces
        What to record besides the rows: `queue`, `cwnd`, `events`; `queue:full` and the like keep
        every change instead of the extremes of each bin.
    progress
        Called about ten times a second, in the calling thread.

    Returns
    -------
    Results
        One row per point, seed and group, and the traces.

    Raises
    ------
    ScenarioError
        The scenario is wrong; nothing has been written.
    ResultsError
        `out` cannot be written to, or holds the results of another scenario.
    Interrupted
        Ctrl-C; what had finished is in its `results`.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    plan, asked = scenario.plan, list(traces)
    store: Store = Directory.create(Path(out), scenario, asked) if out is not None else Memory(plan)
    results = Results(plan, store)
    todo = [job for job in plan.jobs() if not store.has(job, asked)]
    kept = len(plan.points) * len(plan.seeds) - len(todo)
    sweep = _Sweep(store, asked, jobs or processors())
    try:
        sweep.run(todo, kept, progress)
    except KeyboardInterrupt:
        store.close("interrupted")
        raise Interrupted(results, kept + len(todo)) from None
    except _core.ScenarioError as error:
        raise scenario.error(error) from None
    store.close("complete")
    return results


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Sweep:
    """The runs under way and how to end them."""

    def __init__(self, store: Store, traces: list[str], workers: int) -> None:
        self.store = store
        self.traces = json.dumps(traces)
        self.workers = workers
        self.stopped = Event()
        self.controls: dict[str, _core.Control] = {}
        self.estimate = Estimate(workers)

    def run(self, todo: list[Job], kept: int, progress: Callable[[Progress], None] | None) -> None:
        """Run the jobs; leave only when no thread is at work any more."""
        with ThreadPoolExecutor(self.workers, thread_name_prefix="incast") as pool:
            pending = {pool.submit(self.one, job): job for job in todo}
            try:
                self._drain(pending, len(todo) + kept, progress)
            except BaseException:
                self.stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                for control in list(self.controls.values()):
                    control.cancel()
                raise

    def one(self, job: Job) -> float:
        """Run and store one job; return the seconds it took."""
        control = self.controls[job.key] = _core.Control()
        if self.stopped.is_set():
            return 0.0
        start = time.monotonic()
        output = _core.run(json.dumps(job.point.resolved), job.seed, self.traces, control)
        self.store.put(job, output)
        return time.monotonic() - start

    def _drain(
        self,
        pending: dict[Future[float], Job],
        total: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        while pending:
            finished, _ = wait(pending, _TICK, FIRST_COMPLETED)
            for future in finished:
                job = pending.pop(future)
                self.controls.pop(job.key, None)
                self.estimate.finished(job, future.result())
            if progress is not None:
                left = [(job, self._share(job)) for job in pending.values()]
                progress(self.estimate.progress(total - len(pending), left))

    def _share(self, job: Job) -> float:
        control = self.controls.get(job.key)
        return control.progress if control is not None else 0.0
