"""An estimate of the time of a sweep."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from incast.results.archive import Archive
from incast.results.remote import located
from incast.results.store import Directory, check
from incast.results.traces import checked
from incast.scenario import Scenario
from incast.scenario.plan import Job
from incast.sweep.execute import check_jobs, processors
from incast.sweep.shard import Shard
from incast.sweep.work import OVERHEAD, packets, speed_here


@dataclass(frozen=True)
class Forecast:
    """The work of a plan.

    Parameters
    ----------
    runs, kept
        The number of runs, and the number of those that are stored already.
    seconds
        Estimated time of the runs that are not stored. It is proportional to their expected number
        of packets. The time per packet comes from stored runs, or from a short run on this machine.
    """

    runs: int
    kept: int
    seconds: float


def forecast(
    scenario: Scenario,
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    traces: Iterable[str] = (),
    shard: str | None = None,
) -> Forecast:
    """Estimate the work of `run` with the same arguments. Nothing is written.

    Raises
    ------
    ScenarioError
        The scenario is not valid.
    ResultsError
        `out` contains other files or other results; or a trace, `jobs` or `shard` is not valid.
    """
    check_jobs(jobs)
    asked = checked(traces)
    some = Shard.parse(shard).of(scenario.plan) if shard is not None else None
    every = {job.key: job for job in scenario.plan.runs(some)}
    store = None
    if out is not None:
        directory = located(out)
        check(directory, scenario, asked)
        if directory.is_dir():
            store = Directory.open(directory)
    left = [job for job in every.values() if store is None or not store.has(job, asked)]
    seconds = expected_seconds(left, every.values(), store, jobs) if left else 0.0
    return Forecast(len(every), len(every) - len(left), seconds)


def expected_seconds(
    left: Iterable[Job], every: Iterable[Job], store: Archive | None, workers: int | None = None
) -> float:
    """Estimate the time of the runs that are `left`, from the rows of other runs in `store`."""
    todo = list(left)
    measured = store.rows(every) if store is not None else None
    speed = _measured(measured) if measured is not None else speed_here()
    work = [packets(job.point.here) * speed + OVERHEAD for job in todo]
    return sum(work) / min(workers or processors(), max(len(todo), 1))


def _measured(rows: pl.DataFrame) -> float:
    """Return the seconds per packet of stored runs."""
    total = rows.filter(pl.col("group") == "all")
    return float(total["wall_s"].sum()) / max(float(total["packets_sent"].sum()), 1.0)
