"""How far a sweep is, and how long the rest will take."""

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
        Runs finished and runs asked for.
    share
        Share of the work that is done, from 0 to 1.
    remaining
        Estimated seconds to the end, or None while nothing is known.
    """

    done: int
    total: int
    share: float
    remaining: float | None


@dataclass
class _Cost:
    """What the runs of one point take: measured, or expected from the packets they send."""

    packets: float
    spent: float = 0.0
    runs: int = 0


class Estimate:
    """Estimates the rest from what has finished.

    A run costs what the other seeds of its point cost; a point of which nothing is known costs in
    proportion to the packets that it should send. Every step takes the same time however many runs
    there are.

    Parameters
    ----------
    workers
        How many runs go side by side.
    todo
        The runs to do.
    kept
        How many more there are that need not be done.
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
        self._rest = 0.0  # of the points of which something is known
        self._spent = self._sent = 0.0

    def finished(self, job: Job, seconds: float | None) -> None:
        """Take note of a run, and of the time that it took if it had to be done."""
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
        """Add the `left` runs of a point to the sums, or take them out where negative."""
        if cost.runs:
            self._rest += left * cost.spent / cost.runs
        else:
            self._unknown += left * cost.packets

    def progress(self, shares: Mapping[str, float] | None = None) -> Progress:
        """Return the state, given the share of each run under way that is done, by its key."""
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
