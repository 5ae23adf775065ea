"""Run changed scenarios with the same seeds, within a time limit, and compare the runs."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incast import _core
from incast.advise.case import Case
from incast.advise.pieces import joined, of_whole
from incast.advise.runs import Runs
from incast.errors import ResultsError
from incast.outcome import Results
from incast.results.collapse import COLLAPSED, at_points
from incast.results.compare import SHARES, Compared, paired, percentiles
from incast.results.frames import COMPLETIONS
from incast.results.intervals import Floats
from incast.results.statistics import possible
from incast.scenario.plan import Plan, Point
from incast.sweep.execute import run_jobs

BASE = ""  # the name of the case without a change
GOODPUT, P99 = "goodput_bps", "completion_p99_s"


class TimeUp(Exception):  # noqa: N818 (not an error: the answer found so far is used)
    """The time has ended; finished runs are kept."""


@dataclass(frozen=True)
class Clock:
    """A time limit: the end on the monotonic clock, or inf without a limit."""

    end: float

    def part(self, share: float) -> "Clock":
        """Return a clock that ends after a share of the time that is left."""
        now = time.monotonic()
        return Clock(min(self.end, now + share * (self.end - now)))

    @property
    def left(self) -> float:
        """The seconds that are left, at least 0."""
        return max(self.end - time.monotonic(), 0.0)

    def look(self, _: object = None) -> None:
        """Raise `TimeUp` once the time is over."""
        if time.monotonic() >= self.end:
            raise TimeUp


class Trials:
    """The case and its changes, by name. The case itself has the name `BASE`.

    Parameters
    ----------
    case
        The case.
    jobs
        Number of parallel runs; by default the number of processors.
    store
        The store of the runs; by default in memory.
    """

    def __init__(self, case: Case, jobs: int | None = None, store: Runs | None = None) -> None:
        self.case = case
        self.store = store if store is not None else Runs()
        self.jobs = jobs
        self.engine = case.scenario.plan.engine
        self.points: dict[str, Point] = {BASE: Point({}, case.point.resolved, case.point.ready)}
        self.refused: dict[str, str] = {}
        self.pieces = {BASE: 1}
        self._seeds: set[int] = set()
        self._known: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
        self._known_blocks: dict[str, dict[str, dict[int, Floats]]] = {}

    def add(self, name: str, changes: Mapping[str, object], pieces: int = 1) -> bool:
        """Add a change; return whether the scenario is valid with it.

        `pieces` is the number of blocks into which the change divides a block of the case.
        """
        try:
            point = self.case.changed(changes).plan.points[0]
        except _core.ScenarioError as error:
            self.refused[name] = str(error)
            return False
        self.points[name] = Point({}, point.resolved, point.ready)
        self.pieces[name] = pieces
        return True

    def run(self, names: Iterable[str], seeds: Sequence[int], clock: Clock) -> None:
        """Run the named changes at the given seeds, except for runs that have finished before.

        Raises
        ------
        TimeUp
            The time ended before the runs did.
        """
        clock.look()
        self._known.clear()
        self._known_blocks.clear()
        self._seeds |= set(seeds)
        plan = Plan.of([self.points[name] for name in names], list(seeds), self.engine)
        self.store.take(plan.runs())
        run_jobs(plan.runs(), self.store, workers=self.jobs, progress=clock.look)

    def results(self, name: str, seeds: Sequence[int]) -> Results:
        """Return the finished runs of a change."""
        return Results(Plan.of([self.points[name]], list(seeds), self.engine), self.store)

    def summary(self, name: str, seeds: Sequence[int]) -> pl.DataFrame | None:
        """Return the means over the finished runs of a change, or None if no run has finished."""
        try:
            summary = self.results(name, seeds).summary()
        except ResultsError:
            return None
        return summary if summary["ok"][0] else None

    def collapsed(self, name: str, seeds: Sequence[int]) -> tuple[bool, float] | None:
        """Return whether the mean has collapsed, and the share of the seeds that have collapsed."""
        summary = self.summary(name, seeds)
        if summary is None:
            return None
        told = at_points(summary, self.results(name, seeds).resolved)[0]
        return told, float(summary[COLLAPSED][0] or 0.0)

    def mean(self, name: str, seeds: Sequence[int], column: str = GOODPUT) -> float | None:
        """Return the mean of a column over the finished seeds, or None if no seed has finished."""
        known = self._values(column, "all").get(name, {})
        found = [known[seed] for seed in seeds if seed in known]
        return sum(found) / len(found) if found else None

    def together(self, name: str, seeds: Sequence[int]) -> float | None:
        """Return the harmonic mean of the goodputs of finished seeds, or None if there are none."""
        known = self._values(GOODPUT, "all").get(name, {})
        found = [known[seed] for seed in seeds if seed in known]
        return len(found) / sum(1 / max(one, 1.0) for one in found) if found else None

    def compare(
        self,
        name: str,
        seeds: Sequence[int],
        column: str = GOODPUT,
        *,
        beside: str = BASE,
        group: str = "all",
    ) -> Compared | None:
        """Compare the changes `name` and `beside`, at the seeds that have finished for both."""
        if column in SHARES:
            return self._percentiles(name, seeds, column, beside, group)
        values = self._values(column, group)
        ours, theirs = values.get(beside, {}), values.get(name, {})
        both = [seed for seed in seeds if seed in ours and seed in theirs]
        if not both:
            return None
        pair = (np.array([ours[seed] for seed in both]), np.array([theirs[seed] for seed in both]))
        here, there = (possible(column, self.points[one].here) for one in (beside, name))
        return paired(column, pair, (here, there))

    def _percentiles(
        self, name: str, seeds: Sequence[int], column: str, beside: str, group: str
    ) -> Compared | None:
        """Compare a percentile of the block times of all seeds, as in a summary."""
        blocks = self._blocks(group)
        ours, theirs = blocks.get(beside, {}), blocks.get(name, {})
        both = [seed for seed in seeds if seed in ours and seed in theirs]
        if not both:
            return None
        return percentiles(column, ([ours[it] for it in both], [theirs[it] for it in both]))

    def _values(self, column: str, group: str) -> dict[str, dict[int, float]]:
        """Return a column of all finished runs, by name and by seed."""
        if (column, group) not in self._known:
            found: dict[str, dict[int, float]] = {}
            for name, seed, value, times in self._finished(column, group):
                its = of_whole(column, float(value), times, self.pieces[name])
                if its is not None:
                    found.setdefault(name, {})[seed] = its
            self._known[column, group] = found
        return self._known[column, group]

    def _blocks(self, group: str) -> dict[str, dict[int, Floats]]:
        """Return the block times in seconds of all finished runs with blocks, by name and seed."""
        if group not in self._known_blocks:
            found: dict[str, dict[int, Floats]] = {}
            for name, seed, _, times in self._finished(GOODPUT, group):
                if blocks := joined(times, self.pieces[name]):
                    found.setdefault(name, {})[seed] = np.asarray(blocks, float)
            self._known_blocks[group] = found
        return self._known_blocks[group]

    def _finished(self, column: str, group: str) -> Iterator[tuple[str, int, Any, list[float]]]:
        """Yield name, seed, value of a column and block times in seconds of every finished run."""
        names = list(self.points)
        plan = Plan.of(list(self.points.values()), sorted(self._seeds), self.engine)
        try:
            rows = Results(plan, self.store).numbered(group)
        except ResultsError:
            return
        if column not in rows.columns:
            return
        whole = rows.filter((pl.col("status") == "ok") & pl.col(column).is_not_null())
        for point, seed, value, times in whole.select(
            "point", "seed", column, COMPLETIONS
        ).iter_rows():
            yield names[point], seed, value, times or []
