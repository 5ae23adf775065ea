"""The progress of a sweep, and the estimated time of the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from incast.scenario.plan import Job
from incast.sweep.work import packets


@dataclass(frozen=True)
class Progress:
    """The state of a sweep at one moment.

    Parameters
    ----------
    done, total
        The numbers of finished and of requested runs.
    share
        The completed share of the work, from 0 to 1.
    remaining
        The estimated seconds to the end; None if they are not known yet.
    """

    done: int
    total: int
    share: float
    remaining: float | None


@dataclass
class _Cost:
    """The time of the runs of one point: measured, or estimated from their packets."""

    packets: float
    spent: float = 0.0
    runs: int = 0


class Estimate:
    """Estimates the time of the remaining runs from finished runs.

    The estimate for a run is the mean time of the finished runs of its point. If the point has no
    finished run, the estimate is proportional to the run's expected number of packets. The cost of
    an update does not depend on the number of runs.

    Parameters
    ----------
    workers
        Number of parallel runs.
    todo
        The runs to do.
    kept
        Number of runs that are stored already.
    """

    def __init__(self, workers: int, todo: Iterable[Job], kept: int = 0) -> None:
        self._workers = workers
        self._jobs = {job.key: job for job in todo}
        self._costs: dict[str, _Cost] = {}
        for job in self._jobs.values():
            if job.point.key not in self._costs:
                self._costs[job.point.key] = _Cost(packets(job.point.here))
        self._left = Counter(job.point.key for job in self._jobs.values())
        self._unknown = sum(self._costs[key].packets * left for key, left in self._left.items())
        self._total, self._done = len(self._jobs) + kept, kept
        self._rest = 0.0  # seconds of the remaining runs at points that have a finished run
        self._spent = self._sent = 0.0

    def finished(self, job: Job, seconds: float | None) -> None:
        """Record a finished run, and its time if it was simulated."""
        key = job.point.key
        cost, left = self._costs[key], self._left[key]
        self._count(cost, -left)
        if seconds is not None:
            cost.spent += seconds
            cost.runs += 1
            self._spent += seconds
            self._sent += cost.packets
        self._done += 1
        self._left[key] = left - 1
        self._count(cost, left - 1)

    def _count(self, cost: _Cost, left: int) -> None:
        """Add `left` runs of a point to the sums; if `left` is negative, subtract runs."""
        if cost.runs:
            self._rest += left * cost.spent / cost.runs
        else:
            self._unknown += left * cost.packets

    def progress(self, shares: Mapping[str, float] | None = None) -> Progress:
        """Return the state; `shares` has the completed share of each running job, by its key."""
        if self._done == self._total:
            return Progress(self._done, self._total, 1.0, 0.0)
        rate = self._spent / self._sent if self._sent else None
        rest = self._rest + self._unknown * (rate or 1.0)
        under_way = 0.0
        for key, share in (shares or {}).items():
            cost = self._costs[self._jobs[key].point.key]
            each = cost.spent / cost.runs if cost.runs else cost.packets * (rate or 1.0)
            under_way += share * each
        whole = rest + self._spent
        rest = max(rest - under_way, 0.0)
        remaining = rest / self._workers if rate is not None else None
        return Progress(self._done, self._total, 1 - rest / whole, remaining)
