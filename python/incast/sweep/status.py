"""The state of a results directory: finished runs, missing runs and their estimated time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from incast.results.precision import looks
from incast.results.store import Directory
from incast.scenario.plan import Job, Point
from incast.sweep.execute import check_jobs, processors
from incast.sweep.work import OVERHEAD, packets, speed_here


@dataclass(frozen=True)
class PointStatus:
    """The state of one point.

    Parameters
    ----------
    swept
        The swept values of the point.
    done
        The number of finished runs.
    missing
        The seeds of the missing runs.
    run_s
        Seconds per run, measured at this point or estimated from other points.
    measured
        Whether `run_s` was measured at this point.
    """

    swept: dict[str, Any]
    done: int
    missing: list[int]
    run_s: float
    measured: bool

    @property
    def left_s(self) -> float:
        """Processor time of the missing runs."""
        return len(self.missing) * self.run_s


@dataclass(frozen=True)
class Status:
    """The state of a results directory.

    Parameters
    ----------
    title, state
        The title of the scenario, and the status that the last process stored.
    seeds
        The maximum number of seeds of a point.
    points
        The points, in the order of the plan, without duplicates.
    workers
        The number of parallel runs for which the time is estimated.
    spent_s
        The time of the finished runs.
    files
        The number of files of rows.
    """

    title: str
    state: str
    seeds: int
    points: list[PointStatus]
    workers: int
    spent_s: float
    files: int

    @property
    def runs(self) -> int:
        """The number of different runs; with a precision, those of the seeds needed so far."""
        return sum(point.done + len(point.missing) for point in self.points)

    @property
    def done(self) -> int:
        """The number of these runs that are stored."""
        return sum(point.done for point in self.points)

    @property
    def left_s(self) -> float:
        """Estimated seconds for the missing runs."""
        at_once = min(self.workers, max(self.runs - self.done, 1))
        return sum(point.left_s for point in self.points) / at_once

    def to_dict(self) -> dict[str, Any]:
        """Return the status for programs, in SI units, with missing seeds as a string of ranges."""
        return {
            "title": self.title,
            "state": self.state,
            "runs": self.runs,
            "done": self.done,
            "missing": self.runs - self.done,
            "spent_s": self.spent_s,
            "left_s": self.left_s,
            "processors": self.workers,
            "files": self.files,
            "points": [
                {
                    **point.swept,
                    "done": point.done,
                    "missing": len(point.missing),
                    "missing_seeds": ranges(point.missing),
                    "run_s": point.run_s,
                    "left_s": point.left_s,
                }
                for point in self.points
            ],
        }


def status(directory: Path, jobs: int | None = None) -> Status:
    """Return the state of a results directory.

    Parameters
    ----------
    directory
        The directory.
    jobs
        The number of parallel runs for which the time is estimated; by default the number of
        processors.

    Raises
    ------
    ResultsError
        The directory contains no results, or `jobs` is not valid.
    """
    check_jobs(jobs)
    store = Directory.open(directory)
    store.look()
    seconds = store.seconds()
    wanted = _wanted(store)
    found = [
        _of(point, place, store, seconds, wanted.get(point.key, store.plan.seeds))
        for place, point in store.plan.distinct
    ]
    spent, sent = (sum(one) for one in zip(*((it.spent, it.sent) for it in found), strict=True))
    speed = None
    points = []
    for one in found:
        if one.timed:
            run_s = one.spent / one.timed
        else:
            if speed is None:
                speed = spent / sent if sent else speed_here()
            run_s = one.packets * speed + OVERHEAD
        points.append(PointStatus(one.swept, one.done, one.missing, run_s, one.timed > 0))
    return Status(
        store.plan.title,
        store.manifest["status"],
        len(store.plan.seeds),
        points,
        jobs or processors(),
        spent,
        store.packs,
    )


@dataclass(frozen=True)
class _Found:
    """The stored runs of a point, with the number, seconds and packets of the timed runs."""

    swept: dict[str, Any]
    done: int
    missing: list[int]
    timed: int
    spent: float
    packets: float

    @property
    def sent(self) -> float:
        return self.timed * self.packets


def _wanted(store: Directory) -> dict[str, list[int]]:
    """Return the seeds that each point needs, by its key; empty without a precision."""
    precision = store.plan.precision
    if precision is None:
        return {}
    first = store.plan.seeds[: precision.first]
    return {
        key: precision.seeds(first, look.seeds) for key, look in looks(store.plan, store).items()
    }


def _of(
    point: Point, place: int, store: Directory, seconds: dict[str, float], seeds: list[int]
) -> _Found:
    keys = {seed: Job(place, point, seed, store.plan.engine).key for seed in seeds}
    missing = [seed for seed, key in keys.items() if not store.kept(key)]
    times = [seconds[key] for key in keys.values() if key in seconds and store.kept(key)]
    done = len(keys) - len(missing)
    return _Found(point.swept, done, missing, len(times), sum(times), packets(point.here))


def ranges(seeds: Sequence[int]) -> str:
    """Write seeds as ranges, e.g. `1 to 5, 8`."""
    ordered = sorted(seeds)
    if not ordered:
        return ""
    starts = [ordered[0], *(b for a, b in pairwise(ordered) if b != a + 1)]
    ends = [*(a for a, b in pairwise(ordered) if b != a + 1), ordered[-1]]
    return ", ".join(
        str(start) if start == end else f"{start} to {end}"
        for start, end in zip(starts, ends, strict=True)
    )
