"""Results: rows, statistics and traces of a plan."""

from collections.abc import Iterator
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


_PORTION = 250_000  # number of runs whose rows are in memory at once, for a summary
_NOTHING = "no run has finished"
_NO_BLOCKS = "the version of incast that wrote these results did not store blocks"


class Results:
    """The results of the runs of a plan.

    Parameters
    ----------
    plan
        The points and seeds.
    store
        The storage of rows and traces.
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan = plan
        self.store = store
        self._pooled: bool | None = None  # whether all blocks are stored; None until checked

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
        if group is not None:
            self.check_group(group)
        return _shown(self._rows(), group)

    def portions(self, group: str | None = "all") -> Iterator[pl.DataFrame]:
        """Yield the rows of `frame` in portions, so that memory need not hold all rows.

        A portion has about a quarter of a million rows, or the rows of one point. A portion has
        only the columns that its points have; `pl.concat(..., how="diagonal_relaxed")` combines
        portions.

        Parameters
        ----------
        group
            See `frame`.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        if group is not None:
            self.check_group(group)
        for rows in self._portions():
            yield _shown(rows, group)

    def summary(self, group: str = "all") -> pl.DataFrame:
        """Return one row per point: means over seeds, with 95 % confidence intervals.

        See `incast.results.statistics.summarise` for the columns.

        Raises
        ------
        ResultsError
            No run has finished, or there is no such group.
        """
        self.check_group(group)
        resolved = self.resolved if group == "all" else None
        confidence = confidence_of(self.plan.precision)
        parts, pooled = [], True
        for rows in self._portions():
            of_group = rows.filter(pl.col("group") == group)
            summary = summarise(of_group, self.plan.swept, resolved, confidence)
            parts.append(with_pooled(summary, of_group, confidence))
            pooled = pooled and known(rows)
        self._pooled = pooled
        return pl.concat(parts, how="diagonal_relaxed")

    def blocks(self, group: str = "all") -> pl.DataFrame:
        """Return the completion time of every block: swept keys, `seed`, `completion_s`.

        Raises
        ------
        ResultsError
            No run has finished, there is no such group, or the blocks were not stored.
        """
        rows = self.numbered(group)
        if not known(rows):
            raise ResultsError(f"blocks: {_NO_BLOCKS}; run the scenario again in another directory")
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
        if self._pooled is None:
            self._pooled = all(known(rows) for rows in self._portions())
        if not self._pooled:
            notes.append(f"Percentiles are means over the seeds: {_NO_BLOCKS}.")
        return notes

    @property
    def extent(self) -> str:
        """The numbers of points, seeds and runs, in words."""
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
            There is no such group. The message lists the groups that exist.
        """
        if group not in self.groups:
            there = ", ".join(self.groups)
            raise ResultsError(f"group: there is no group {group!r}; choose from {there}")

    def _portions(self) -> Iterator[pl.DataFrame]:
        """Yield the rows in portions of several points, so that memory need not hold all rows.

        Raises
        ------
        ResultsError
            No run has finished.
        """
        size = max(_PORTION // len(self.plan.seeds), 1)
        some = False
        for start in range(0, len(self.plan.points), size):
            rows = self._rows_of(range(start, min(start + size, len(self.plan.points))))
            if rows is not None:
                some = True
                yield rows
        if not some:
            raise ResultsError(_NOTHING)

    def _rows(self) -> pl.DataFrame:
        rows = self._rows_of(range(len(self.plan.points)))
        if rows is None:
            raise ResultsError(_NOTHING)
        return rows

    def _rows_of(self, points: range) -> pl.DataFrame | None:
        """Return the rows of points in the order of the plan; `point` is the index in the plan.

        Equal points share their runs, which are stored with the swept values of one of these
        points. The returned rows have the swept values of their own points.
        """
        jobs = list(self.plan.jobs_of(points))
        rows = self.store.rows(jobs)
        if rows is None:
            return None
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


def _shown(rows: pl.DataFrame, group: str | None) -> pl.DataFrame:
    """Return the rows of a group, without internal columns."""
    rows = rows.drop("point", COMPLETIONS, strict=False)
    return rows if group is None else rows.filter(pl.col("group") == group)
