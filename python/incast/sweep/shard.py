"""Shards: parts of a sweep for separate processes, which need not know of each other."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from incast.errors import ResultsError
from incast.scenario.plan import Job, Plan
from incast.sweep.work import cost


@dataclass(frozen=True)
class Shard:
    """One of several parts of a sweep, each with about the same estimated work.

    The runs are cut in the order of the plan, seed by seed. So a shard has whole curves, and is
    even if the estimate is wrong in the same way for all seeds of a point. Which runs it has
    depends on the plan only.

    Parameters
    ----------
    number, count
        The number of the part, from 1, and how many there are.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read a shard such as `2/16`.

        Raises
        ------
        ResultsError
            It is not one.
        """
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ResultsError(
                f"shard: {text!r} is not a shard; must be i/n with i from 1 to n, e.g. 2/16"
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, plan: Plan) -> range:
        """Return which of the runs of a plan it has, by their numbers in `Plan.runs`."""
        return self.cut([cost(point.here) for _, point in plan.distinct], len(plan.seeds))

    def among(self, jobs: Iterable[Job]) -> list[Job]:
        """Return which of several runs it has, in their order."""
        every = list({job.key: job for job in jobs}.values())
        known: dict[str, int] = {}
        for job in every:
            if job.point.key not in known:
                known[job.point.key] = cost(job.point.here)
        part = self.cut([known[job.point.key] for job in every])
        return every[part.start : part.stop]

    def cut(self, costs: Sequence[int], times: int = 1) -> range:
        """Return its part of runs with these costs, which are repeated `times` times.

        A run is in the part in which the middle of its cost is. So no part costs more than its
        share and the longest run.
        """
        ends = [0, *accumulate(costs)]
        middles = [start + end for start, end in pairwise(ends)]  # twice, to be whole

        def begin(part: int) -> int:
            goal = -(-2 * part * times * ends[-1] // self.count)
            whole, rest = divmod(goal, 2 * ends[-1])
            return whole * len(costs) + bisect_left(middles, rest)

        return range(begin(self.number - 1), begin(self.number)) if costs else range(0)
