"""Shards: parts of a sweep for separate processes that need no connection to each other."""

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

    The list of runs is in the order of the plan: all points at the first seed, then all points at
    the next seed. A shard is a range of this list, so it contains whole curves. Shards have equal
    work even if the estimate of a point is wrong, because it is wrong by the same factor at every
    seed. The runs of a shard depend only on the plan.

    Parameters
    ----------
    number, count
        The number of the part, from 1, and the number of all parts.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read a shard such as `2/16`.

        Raises
        ------
        ResultsError
            The text is not a shard.
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
        """Return the range of the shard's runs, by their numbers in `Plan.runs`."""
        return self.cut([cost(point.here) for _, point in plan.distinct], len(plan.seeds))

    def among(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the runs of a list that belong to the shard, in the order of the list."""
        every = list({job.key: job for job in jobs}.values())
        known: dict[str, int] = {}
        for job in every:
            if job.point.key not in known:
                known[job.point.key] = cost(job.point.here)
        part = self.cut([known[job.point.key] for job in every])
        return every[part.start : part.stop]

    def cut(self, costs: Sequence[int], times: int = 1) -> range:
        """Return the shard's range of runs. Their costs are `costs`, repeated `times` times.

        The costs are placed one after the other on a line, and the line is cut into equal parts. A
        run belongs to the part that contains the middle of its cost. So no part costs more than an
        equal share plus the cost of the longest run.
        """
        ends = [0, *accumulate(costs)]
        middles = [start + end for start, end in pairwise(ends)]  # doubled, to be whole numbers

        def begin(part: int) -> int:
            goal = -(-2 * part * times * ends[-1] // self.count)
            whole, rest = divmod(goal, 2 * ends[-1])
            return whole * len(costs) + bisect_left(middles, rest)

        return range(begin(self.number - 1), begin(self.number)) if costs else range(0)
