"""Results: rows, statistics and traces of a plan, whoever keeps them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from incast.errors import ResultsError
from incast.results.statistics import summarise
from incast.results.store import ROWS, Directory, Store
from incast.results.traces import Traces
from incast.scenario.plan import Plan
from incast.scenario.resolved import Resolved

if TYPE_CHECKING:
    from incast.plots import Plots

__all__ = ["Results", "open_results"]


class Results:
    """What the runs of a plan gave.

    Parameters
    ----------
    plan
        What was asked for.
    store
        Where the parts are kept.
    """

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan = plan
        self.store = store

    def __repr__(self) -> str:
        asked = len(self.plan.points) * len(self.plan.seeds)
        return f"<Results of {self.plan.title!r}: {len(self.store)} of {asked} runs>"

    def frame(self, group: str | None = "all") -> pl.DataFrame:
        """Return the result rows, point by point and seed by seed.

        Parameters
        ----------
        group
            `all` for the totals, another group's name, or None for every row.

        Raises
        ------
        ResultsError
            No run has finished.
        """
        rows = self._rows().drop("point")
        return rows if group is None else rows.filter(pl.col("group") == group)

    def summary(self, group: str = "all") -> pl.DataFrame:
        """Return one row per point: means over seeds, with 95 % confidence half-widths.

        See `incast.results.statistics.summarise` for the columns.
        """
        return summarise(self._rows().filter(pl.col("group") == group), self.plan.swept)

    def _rows(self) -> pl.DataFrame:
        """Return all rows, each with `point`, its index in the plan."""
        jobs = sorted(self.plan.jobs(), key=lambda job: job.index)
        parts = [
            part.with_columns(pl.lit(job.index).alias("point"))
            for job in jobs
            if (part := self.store.part(ROWS, job)) is not None
        ]
        if not parts:
            raise ResultsError("no run has finished: there is nothing to show")
        return pl.concat(parts, how="diagonal_relaxed")

    def resolved(self, point: int) -> Resolved:
        """Return the quantities of one point of the plan."""
        return Resolved(self.plan.points[point].resolved)

    @property
    def scenario(self) -> dict[str, Any]:
        """The resolved scenario of every point and the seeds: what the results answer."""
        return {"engine": self.plan.engine, **self.plan.to_dict()}

    @property
    def traces(self) -> Traces:
        """The traces that were recorded."""
        return Traces(self.plan, self.store)

    @property
    def plot(self) -> "Plots":
        """The pictures, one method per kind: `results.plot.goodput()`."""
        from incast.plots import Plots

        return Plots(self)


def open_results(directory: str | Path) -> Results:
    """Read results that an earlier run left in `directory`.

    Raises
    ------
    ResultsError
        The directory holds no results.
    """
    store = Directory.open(Path(directory))
    return Results(store.plan, store)
