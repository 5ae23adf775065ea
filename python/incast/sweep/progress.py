"""How far a sweep is, and how long the rest will take."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from incast.scenario.plan import Job


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
class Estimate:
    """Estimates the rest from what has finished: a point costs what its other seeds cost.

    Parameters
    ----------
    workers
        How many runs go side by side.
    """

    workers: int
    _spent: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    def finished(self, job: Job, seconds: float) -> None:
        """Take note of the time that one run took."""
        self._spent[job.index].append(seconds)

    def progress(self, done: int, left: Iterable[tuple[Job, float]]) -> Progress:
        """Return the state, from the runs `left` and the share of each that is done."""
        parts = list(left)
        total = done + len(parts)
        every = [seconds for spent in self._spent.values() for seconds in spent]
        typical = sum(every) / len(every) if every else 1.0
        rest = whole = 0.0
        for job, share in parts:
            spent = self._spent.get(job.index)
            cost = sum(spent) / len(spent) if spent else typical
            whole += cost
            rest += cost * (1 - share)
        whole += sum(every) if every else done * typical
        share = 1 - rest / whole if whole else 1.0
        return Progress(done, total, share, rest / self.workers if every else None)
