"""Results: rows, statistics and traces of a plan."""

from pathlib import Path
from typing import Any, Self

import polars as pl

from incast import units
from incast.errors import ResultsError
from incast.results import precision
from incast.results.collapse import with_collapse
from incast.results.frames import COMPLETIONS, KEY
from incast.results.intervals import HIGH, LOW
from incast.results.pooled import known, with_pooled
from incast.results.precision import confidence_of
from incast.results.recorded import Traces
from incast.results.remote import located
from incast.results.statistics import summarise
from incast.results.store import Directory, Store
from incast.scenario.plan import Plan
from incast.scenario.resolved import Resolved

__all__ = ["Results"]


_NO_BLOCKS = "the version of incast that wrote these results did not store blocks"


class Results:
    """The results of the runs of a plan.

    Parameters
    ----------
    plan
        The points and seeds.
    store
        The storage of the parts.
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan = plan
        self.store = store

    @classmethod
    def open(cls, directory: str | Path) -> Self:
        """Open the results of an earlier run in `directory`.

        Raises
        ------
        ResultsError
            The directory contains no results.
        """
        store = Directory.open(located(directory))
        return cls(store.plan, store)

    def __repr__(self) -> str:
        asked = len(self.plan.points) * len(self.plan.seeds)
        of = f" of {asked}" if self.plan.precision is None else ""
        return f"<Results of {self.plan.title!r}: {len(self)}{of} runs>"

    def __len__(self) -> int:
        """Count the finished runs."""
        return sum(self.store.has(job) for job in self.plan.jobs())

    def frame(self, group: str | None = "all") -> pl.DataFrame:
        """Return the result rows, point by point and seed by seed.

        Parameters
        ----------
        group
            `all` for the totals, another group's name, or None for every row.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        rows = self._rows().drop("point", COMPLETIONS, strict=False)
        if group is not None:
            self.check_group(group)
        return rows if group is None else rows.filter(pl.col("group") == group)

    def summary(self, group: str = "all") -> pl.DataFrame:
        """Return one row per point: means over seeds, with 95 % confidence intervals.

        See `incast.results.statistics.summarise` for the columns.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        rows = self.numbered(group)
        resolved = self.resolved if group == "all" else None
        confidence = confidence_of(self.plan.precision)
        summary = summarise(rows, self.plan.swept, resolved, confidence)
        return with_pooled(summary, rows, confidence)

    def blocks(self, group: str = "all") -> pl.DataFrame:
        """Return the completion time of every block: swept keys, `seed`, `completion_s`.

        Raises
        ------
        ResultsError
            No run has finished, there is no such group, or the blocks were not stored.
        """
        rows = self.numbered(group)
        if not known(rows):
            raise ResultsError(f"blocks: {_NO_BLOCKS}; run it again in another directory")
        kept = rows.select(*self.plan.swept, "seed", pl.col(COMPLETIONS).alias("completion_s"))
        return kept.explode("completion_s").drop_nulls("completion_s")

    def numbered(self, group: str = "all") -> pl.DataFrame:
        """Return the rows of a group, each with `point`, its index in the plan.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        self.check_group(group)
        return self._rows().filter(pl.col("group") == group)

    @property
    def notes(self) -> list[str]:
        """Notes on the numbers of a summary."""
        notes = precision.notes(self)
        if not known(self._rows()):
            notes.append(f"Percentiles are means over the seeds: {_NO_BLOCKS}.")
        return notes

    @property
    def extent(self) -> str:
        """How many points, seeds and runs there are, in words."""
        points = units.plural(len(self.plan.points), "point")
        seeds = units.plural(len(self.plan.seeds), "seed")
        done, asked = len(self), len(self.plan.points) * len(self.plan.seeds)
        if self.plan.precision is not None:
            return f"{units.plural(done, 'run')}: {points}, up to {seeds}"
        runs = f"{points} × {seeds}"
        return runs if done == asked else f"{done} of {units.plural(asked, 'run')} ({runs})"

    def overview(self, group: str = "all") -> pl.DataFrame:
        """Return the few columns of the summary that `incast run` prints.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        from incast.results.columns import usual

        summary = self.summary(group)
        names = [column.name for column in usual(summary)]
        ends = {f"{name}_ci95": [f"{name}{LOW}", f"{name}{HIGH}"] for name in summary.columns}
        chosen = [one for name in names for one in ends.get(name, [name])]
        return summary.select(*self.plan.swept, *chosen)

    @property
    def groups(self) -> list[str]:
        """The groups of the rows: `all` for the read, and each group of background traffic."""
        of_points = (self.resolved(point).groups for point in range(len(self.plan.points)))
        return list(dict.fromkeys(name for names in of_points for name in names))

    def check_group(self, group: str) -> None:
        """Refuse a group without rows.

        Raises
        ------
        ResultsError
            There is no such group. The message lists those that exist.
        """
        if group not in self.groups:
            there = ", ".join(self.groups)
            raise ResultsError(f"group: there is no group {group!r}; choose from {there}")

    def _rows(self) -> pl.DataFrame:
        """Return all rows in the order of the plan, each with `point`, its index there.

        Equal points share their runs, which have the swept values of one of them. The rows have
        those of the plan.
        """
        jobs = sorted(self.plan.jobs(), key=lambda job: job.index)
        rows = self.store.rows(jobs)
        if rows is None:
            raise ResultsError("no run has finished")
        swept = {key: [job.point.swept[key] for job in jobs] for key in self.plan.swept}
        asked = pl.DataFrame(
            {"point": [job.index for job in jobs], KEY: [job.key for job in jobs], **swept},
            schema_overrides={"point": pl.Int32, KEY: pl.String},
        )
        rows = rows.drop(*swept, strict=False)
        found = asked.join(rows, on=KEY, how="inner", maintain_order="left_right").drop(KEY)
        return with_collapse(found.select(*swept, pl.exclude("point", *swept), "point"), self.plan)

    def resolved(self, point: int) -> Resolved:
        """Return the quantities of one point of the plan."""
        return self.plan.points[point].here

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario of every point, and the seeds."""
        return {"engine": self.plan.engine, **self.plan.to_dict()}

    @property
    def traces(self) -> Traces:
        """The traces that were recorded."""
        return Traces(self.plan, self.store)
