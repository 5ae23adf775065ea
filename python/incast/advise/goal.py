"""The goal of advice (goodput, the slowest blocks, or both), and how much a change gains."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from incast import units
from incast.advise.trials import BASE, GOODPUT, P99, Trials
from incast.errors import AdviceError
from incast.results.compare import Compared, Finding

_PERCENTILES = {"p99": P99, "p999": "completion_p999_s"}
_BOUND = re.compile(r"[ \t]*(p999?)[ \t]*<[ \t]*([0-9].{0,20})")
_LONGEST = 80  # maximum number of characters of a goal
_ACCEPTED = "must be goodput, p99, p999, or a bound in quotes, e.g. 'p99<20ms'"
WORTH = 1.02
"""The minimum gain of a change that is advised, as a factor."""


@dataclass(frozen=True)
class Goal:
    """The goal by which a change is judged.

    Parameters
    ----------
    name
        The goal as the user gave it.
    columns
        The columns whose values are compared: goodput, a percentile of the block times, or both.
    bound
        The time in seconds below which the percentile should be; None if the goal has no bound.
    """

    name: str = "goodput and p99"
    columns: tuple[str, ...] = (GOODPUT, P99)
    bound: float | None = None

    @property
    def percentile(self) -> str:
        """The column of the percentile that is reported together with the goodput."""
        return next((one for one in self.columns if one != GOODPUT), P99)

    @property
    def label(self) -> str:
        """The short name of the reported percentile: p99 or p999."""
        return next(name for name, column in _PERCENTILES.items() if column == self.percentile)

    def without_blocks(self) -> "Goal":
        """Return the goal for a workload that has no blocks.

        Raises
        ------
        AdviceError
            The goal is a percentile of the block times alone.
        """
        if GOODPUT not in self.columns:
            raise AdviceError(
                f"--for {self.name}: this workload has no blocks; must be goodput here"
            )
        return Goal("goodput", (GOODPUT,))

    def findings(self, trials: Trials, name: str, seeds: Sequence[int]) -> dict[str, Compared]:
        """Return the comparisons of a change with the unchanged case, by column."""
        found = {column: trials.compare(name, seeds, column) for column in self.columns}
        return {column: one for column, one in found.items() if one is not None}

    def times(self, trials: Trials, name: str, seeds: Sequence[int]) -> float:
        """Return the gain of a change, as a factor; 0 if it is not known.

        For goodput and a percentile, the gain is the geometric mean of the two gains.
        """
        ratios = [_times(trials, name, seeds, column) for column in self.columns]
        known = [one for one in ratios if one is not None]
        if not known:
            return 0.0
        return sqrt(known[0] * known[1]) if len(known) > 1 else known[0]

    def is_kept(self, late: Compared | None) -> bool:
        """Return whether the percentile is significantly below the bound; True without a bound."""
        if self.bound is None:
            return True
        if late is None:
            return False
        highest = late.b if late.high is None else max(late.b, late.a + late.high)
        return highest < self.bound


def goal_of(text: str | None) -> Goal:
    """Return the goal of a name; without a name, goodput and the 99th percentile.

    Raises
    ------
    AdviceError
        No goal has this name.
    """
    if text is None:
        return Goal()
    if text == "goodput":
        return Goal(text, (GOODPUT,))
    if text in _PERCENTILES:
        return Goal(text, (_PERCENTILES[text],))
    given = units.plain(text[:_LONGEST])
    bound = _BOUND.fullmatch(text) if len(text) <= _LONGEST else None
    if bound is None:
        raise AdviceError(f"--for: {given} is not a goal; {_ACCEPTED}")
    try:
        seconds = units.quantity(bound[2], "time")
    except units.QuantityError as error:
        raise AdviceError(f"--for: {units.plain(str(error))}") from None
    if seconds <= 0:
        raise AdviceError(f"--for: {given}: the bound must be above 0 s")
    return Goal(text, (_PERCENTILES[bound[1]],), seconds)


def is_better(found: Mapping[str, Compared]) -> bool:
    """Return whether any quantity is significantly better, by the factor `WORTH` or more."""
    return any(
        one.finding is Finding.BETTER and _ratio(column, one) >= WORTH
        for column, one in found.items()
    )


def is_behind(found: Mapping[str, Compared], *, strict: bool) -> bool:
    """Return whether no quantity is likely to become better.

    With `strict`, a quantity whose mean is not better counts as not likely to become better. Use
    `strict` only with many seeds.
    """
    return all(
        one.finding in (Finding.WORSE, Finding.SAME) or (strict and _ratio(column, one) <= 1)
        for column, one in found.items()
    )


def _ratio(column: str, one: Compared) -> float:
    """Return the factor by which the changed case is better."""
    if not one.a or not one.b:
        return 1.0
    return one.b / one.a if column == GOODPUT else one.a / one.b


def _times(trials: Trials, name: str, seeds: Sequence[int], column: str) -> float | None:
    if column == GOODPUT:  # harmonic mean over all seeds: a stalled seed counts by its time
        before, after = (trials.together(one, seeds) for one in (BASE, name))
        return after / before if before and after else None
    late = trials.compare(name, seeds, column)
    return _ratio(column, late) if late is not None else None
