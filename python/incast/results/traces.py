"""Traces: what happened inside single runs, asked for by name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incast.errors import ResultsError
from incast.scenario.plan import Job, Plan

if TYPE_CHECKING:
    import polars as pl

    from incast.results.store import Store


@dataclass(frozen=True)
class Kind:
    """One kind of trace.

    Parameters
    ----------
    name
        What the user asks for: `--trace name`.
    table
        The core's name of the table, and of the folder that holds it.
    """

    name: str
    table: str


KINDS = {
    kind.name: kind
    for kind in (Kind("queue", "queues"), Kind("cwnd", "flows"), Kind("events", "events"))
}


def parse(text: str) -> list[str]:
    """Split a list such as `queue,cwnd,events:full`; `:full` keeps every change, not bins.

    Raises
    ------
    ResultsError
        There is no such trace; those that exist are in the message.
    """
    return checked(name.strip() for name in text.split(",") if name.strip())


def checked(names: Iterable[str]) -> list[str]:
    """Return each name of a trace once.

    Raises
    ------
    ResultsError
        There is no such trace; those that exist are in the message. Or one is asked for twice, in
        bins and in full.
    """
    names = list(dict.fromkeys(names))
    for name in names:
        if name.removesuffix(":full") not in KINDS:
            raise ResultsError(
                f"trace: there is no trace {name!r}; choose from {', '.join(KINDS)}, "
                "each with or without :full"
            )
        if f"{name}:full" in names:
            raise ResultsError(f"trace: {name} and {name}:full exclude each other; choose one")
    return names


@dataclass(frozen=True)
class Traces:
    """The traces of a plan's runs.

    Parameters
    ----------
    plan
        What was run.
    store
        Where the traces are kept.
    """

    plan: Plan
    store: "Store"

    def of(self, name: str, job: Job) -> "pl.DataFrame":
        """Return the trace `name` of one run.

        Raises
        ------
        ResultsError
            It was not recorded; the option that would is in the message. Or there is no such trace.
        """
        checked([name])
        part = self.store.trace(KINDS[name.removesuffix(":full")].table, job)
        if part is None:
            raise self.missing(name)
        return part

    @staticmethod
    def missing(name: str) -> ResultsError:
        """Return the error that says how to record the trace `name` after all."""
        return ResultsError(
            f"the trace {name!r} was not recorded: give the same incast run --out once more, "
            f"with --trace {name}"
        )

    def has(self, name: str, job: Job) -> bool:
        """Say whether the trace `name` of one run was recorded."""
        return self.store.has(job, [name])

    def find(self, where: Mapping[str, object], seed: int | None = None) -> list[Job]:
        """Return the runs whose swept values are those of `where`, in the order of the plan.

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
