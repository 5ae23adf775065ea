"""The traces that were recorded inside single runs."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from incast.errors import ResultsError
from incast.results.store import Store
from incast.results.traces import KINDS, checked
from incast.scenario.plan import Job, Plan


@dataclass(frozen=True)
class Traces:
    """The traces of a plan's runs.

    Parameters
    ----------
    plan
        The plan.
    store
        The storage of the traces.
    """

    plan: Plan
    store: Store

    def of(self, name: str, job: Job) -> pl.DataFrame:
        """Return the trace `name` of one run.

        Raises
        ------
        ResultsError
            The trace was not recorded (the message names the option), or there is no such trace.
        """
        checked([name])
        part = self.store.trace(KINDS[name.removesuffix(":full")].table, job)
        if part is None:
            raise self.missing(name)
        return part

    @staticmethod
    def missing(name: str) -> ResultsError:
        """Return the error that explains how to record the trace `name`."""
        return ResultsError(
            f"the trace {name!r} was not recorded; repeat incast run --out with --trace {name}"
        )

    def has(self, name: str, job: Job) -> bool:
        """Return whether the trace `name` of one run was recorded."""
        return self.store.has(job, [name])

    def find(self, where: Mapping[str, object], seed: int | None = None) -> list[Job]:
        """Return the runs with the swept values of `where`, in the order of the plan.

        Values are compared as text, so that `{"workload.servers": "8"}` finds 8 servers.

        Raises
        ------
        ResultsError
            A key is not swept, or no run matches.
        """
        for key in where:
            if key not in self.plan.swept:
                swept = ", ".join(self.plan.swept) or "nothing"
                raise ResultsError(f"{key}: not a swept key; swept: {swept}")
        jobs = [
            job
            for job in sorted(self.plan.jobs(), key=lambda job: job.index)
            if all(str(job.point.swept[key]) == str(value) for key, value in where.items())
            and seed in {None, job.seed}
        ]
        if not jobs:
            asked = ", ".join(f"{key} = {value}" for key, value in where.items())
            raise ResultsError(f"there is no run at {asked or 'this point'}, seed {seed or 'any'}")
        return jobs
