"""The search for fixes: rounds that drop the worst fixes, and a last round with fresh seeds.

All fixes of a round run at the same seeds as the case itself, so each fix is compared with the
case seed by seed. A fix is dropped when the runs show that it does not help, that it makes the
slowest blocks slower, or that other fixes of the same party (e.g. the servers) are better. The
figures of the remaining fixes come from seeds that were not used to choose them. Otherwise the best
of many fixes would look too good.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from incast import units
from incast.advise.case import Case
from incast.advise.fixes import Fix, Who
from incast.advise.goal import WORTH, Goal, is_behind, is_better
from incast.advise.trials import BASE, GOODPUT, P99, Clock, TimeUp, Trials
from incast.results.compare import Compared, Finding

ROUNDS: tuple[tuple[int, int], ...] = ((2, 5), (6, 3), (12, 2))
"""For each round: the number of seeds so far, and the number of fixes that each party keeps."""
FIRST_FRESH, LEAST_FRESH = 1001, 5
"""The first seed of the last round, and the minimum number of its seeds that must have finished."""
FRESH = (12, 24, 48)
"""The numbers of seeds of the last round. If it is unclear whether one of the fixes helps, the next
number is tried."""
ALIKE = 0.05
"""Fixes within this share of the best fix count as equal; the cheapest of these comes first."""
_SLOWER = 0.01  # slowest blocks count as slower if their percentile is longer by this share
_HARDLY = 0.005  # a change by a smaller share is reported as hardly anything
_ENOUGH = 6  # with this number of seeds or more, a fix without a better mean is dropped
_GONE = 0.5  # below this share of the party's best gain, a fix is not worth more seeds


@dataclass(frozen=True)
class Gain:
    """A quantity before and after a change, and the interval of the ratio.

    Parameters
    ----------
    before, after
        The means over the seeds.
    low, high
        The ends of the 95 % interval of `after / before`.
    seeds
        The number of seeds.
    """

    before: float
    after: float
    low: float
    high: float
    seeds: int

    @classmethod
    def of(cls, compared: Compared) -> "Gain | None":
        """Return the gain from a comparison, or None if the comparison has no interval."""
        if compared.low is None or compared.high is None or not compared.a:
            return None
        low, high = compared.ratio_low, compared.ratio_high
        if low is None or high is None:  # a ratio cannot be negative
            low, high = (max(1 + end / compared.a, 0.0) for end in (compared.low, compared.high))
        return cls(compared.a, compared.b, low, high, compared.seeds)

    @property
    def ratio(self) -> float:
        """The value after the change divided by the value before the change."""
        return self.after / self.before


@dataclass(frozen=True)
class Advised:
    """A fix that helps.

    Parameters
    ----------
    fix
        The fix.
    goodput
        The gain in goodput.
    late
        The gain in the goal's percentile; None if the workload has no blocks.
    times
        The gain as a factor, as the goal defines it.
    kept
        Whether the fix meets the bound of the goal; True if the goal has no bound.
    quiet
        The factor by which the fix lengthens the median block time of a read from few servers;
        None if unknown.
    premature
        The number of spurious timeouts per block with the fix.
    """

    fix: Fix
    goodput: Gain
    late: Gain | None
    times: float = 1.0
    kept: bool = True
    quiet: float | None = None
    premature: float | None = None

    def prices(self) -> list[str]:
        """Return the sentences on the price and on the measured costs."""
        lines = [self.fix.price]
        if self.quiet is not None:
            times = units.number(self.quiet, 3)
            lines.append(f"A read from only two servers takes {times} times as long.")
        if self.premature:
            lines.append(
                f"There are {units.number(self.premature, 2)} spurious timeouts per block."
            )
        return lines


@dataclass(frozen=True)
class Tried:
    """A fix that is not advised, the reason, and the ratios of goodput and of the percentile."""

    fix: Fix
    why: str
    ratio: float | None = None
    late: float | None = None


@dataclass
class Found:
    """The result of a search so far.

    Parameters
    ----------
    advised
        Fixes that help, the best first.
    tried
        Fixes that do not help, or that help less than other fixes of their party.
    confirmed
        Whether the figures are from seeds that were not used to choose the fixes.
    """

    advised: list[Advised] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    confirmed: bool = False

    def per_party(self) -> list[Advised]:
        """Return the first fix of every party, in the order of advice."""
        first: dict[Who, Advised] = {}
        for one in self.advised:
            first.setdefault(one.fix.who, one)
        return list(first.values())


class Search:
    """A search in progress.

    Parameters
    ----------
    case
        The case.
    trials
        The runs of the case and of its changes.
    fixes
        The catalogue.
    goal
        The goal by which a fix is judged.
    """

    def __init__(
        self, case: Case, trials: Trials, fixes: Iterable[Fix], goal: Goal | None = None
    ) -> None:
        self.case = case
        goal = goal or Goal()
        self.goal = goal if case.reads else goal.without_blocks()
        self.trials = trials
        self.field: list[Fix] = []
        self.out: dict[str, Tried] = {}
        self.fresh = range(FIRST_FRESH, FIRST_FRESH + FRESH[0])
        self.groups = [name for name in case.here.groups if name != "all"]
        for fix in fixes:
            if trials.add(fix.name, fix.changes, fix.pieces):
                self.field.append(fix)
            else:
                self.out[fix.name] = Tried(fix, f"not simulated here: {trials.refused[fix.name]}")

    def judge(self, clock: Clock) -> None:
        """Run the case itself, without fixes, with the seeds of the first round.

        Raises
        ------
        TimeUp
            The time ended before the runs did.
        """
        self.trials.run([BASE], self.seeds(1, confirmed=False), clock)

    def round(self, number: int, clock: Clock) -> None:
        """Run one round, and drop the worst fixes.

        Raises
        ------
        TimeUp
            The time ended before the round did.
        """
        count, stay = ROUNDS[number]
        seeds = range(1, count + 1)
        self.trials.run([BASE, *(fix.name for fix in self.field)], seeds, clock)
        self.field = [fix for fix in self.field if self._stands(fix, seeds)]
        for who in Who:
            mine = sorted(
                (fix for fix in self.field if fix.who is who), key=lambda fix: -self._of(fix, seeds)
            )
            best = self._of(mine[0], seeds) if mine else 0.0
            for place, fix in enumerate(mine):
                gone = count >= _ENOUGH and self._of(fix, seeds) < _GONE * best
                if place >= stay or gone:
                    self._drop(fix, f"less than “{mine[0].name}”", seeds)

    def confirm(self, clock: Clock) -> None:
        """Run the remaining fixes with seeds that no round has used.

        Raises
        ------
        TimeUp
            The time ended before the runs did.
        """
        names = [BASE, *(fix.name for fix in self.field)]
        for count in FRESH:
            self.fresh = range(FIRST_FRESH, FIRST_FRESH + count)
            self.trials.run(names, self.fresh, clock)
            if not any(map(self._is_open, self.field)):
                break

    def _is_open(self, fix: Fix) -> bool:
        """Return whether it is still unclear if a fix helps."""
        found = self.goal.findings(self.trials, fix.name, self.fresh)
        return not is_better(found) and any(
            one.finding is Finding.UNKNOWN for one in found.values()
        )

    def has_fresh(self) -> bool:
        """Return whether enough fresh seeds have finished for every fix."""
        if not self.field:
            return self.trials.mean(BASE, self.fresh) is not None
        found = [self.trials.compare(fix.name, self.fresh) for fix in self.field]
        return all(one is not None and one.seeds >= LEAST_FRESH for one in found)

    def seeds(self, rounds: int, *, confirmed: bool) -> range:
        """Return the seeds from which the figures come."""
        return self.fresh if confirmed else range(1, ROUNDS[max(rounds - 1, 0)][0] + 1)

    def found(self, rounds: int, *, confirmed: bool) -> Found:
        """Return the result of the rounds so far."""
        seeds = self.seeds(rounds, confirmed=confirmed)
        advised, tried = [], list(self.out.values())
        for fix in self.field:
            one = self._advised(fix, seeds)
            if isinstance(one, Advised):
                advised.append(one)
            else:
                tried.append(one)
        return Found(_ordered(advised), sorted(tried, key=lambda it: -(it.ratio or 0)), confirmed)

    def _advised(self, fix: Fix, seeds: range) -> "Advised | Tried":
        """Return a fix with its gain, or with the reason why it is not advised."""
        compared = self.trials.compare(fix.name, seeds)
        gain = Gain.of(compared) if compared is not None else None
        if compared is None or gain is None:
            return Tried(fix, "no time left to simulate it")
        late = self.trials.compare(fix.name, seeds, self.goal.percentile)
        found = self.goal.findings(self.trials, fix.name, seeds)
        if not is_better(found):
            return self._not_advised(fix, _why(found), seeds)
        if compared.finding is Finding.WORSE:
            return self._not_advised(fix, "the goodput is lower", seeds)
        if why := self._worse(fix, seeds, late):
            return self._not_advised(fix, why, seeds)
        return Advised(
            fix,
            gain,
            Gain.of(late) if late is not None else None,
            times=self._of(fix, seeds),
            kept=self.goal.is_kept(late),
            premature=self._premature(fix, seeds),
        )

    def _not_advised(self, fix: Fix, why: str, seeds: range) -> Tried:
        """Return a fix with the reason why it is not advised, and with its ratios."""
        ratios = [
            one.b / one.a if one is not None and one.a else None
            for one in (
                self.trials.compare(fix.name, seeds, column)
                for column in (GOODPUT, self.goal.percentile)
            )
        ]
        return Tried(fix, why, *ratios)

    def _premature(self, fix: Fix, seeds: range) -> float | None:
        """Return the number of spurious timeouts per block with a fix."""
        timeouts, blocks = (
            self.trials.mean(fix.name, seeds, name) for name in ("timeouts_spurious", "blocks")
        )
        return timeouts / blocks if timeouts is not None and blocks else None

    def _worse(self, fix: Fix, seeds: range, late: Compared | None, *, strict: bool = True) -> str:
        """Return what a fix makes worse; empty if it makes nothing worse."""
        slower = late is not None and late.difference > _SLOWER * late.a
        if late is not None and slower and (strict or late.finding is Finding.WORSE):
            return "the slowest blocks are slower"
        for group in self.groups:
            for column in (GOODPUT, P99):
                other = self.trials.compare(fix.name, seeds, column, group=group)
                if other is not None and other.finding is Finding.WORSE:
                    return f"the group {group} is worse off"
        return ""

    def _stands(self, fix: Fix, seeds: range) -> bool:
        """Return whether a fix stays; if not, record the reason. With few seeds, be lenient."""
        found = self.goal.findings(self.trials, fix.name, seeds)
        if not found:
            self.out[fix.name] = Tried(fix, "no run finished")
            return False
        if is_behind(found, strict=len(seeds) >= _ENOUGH):
            self._drop(fix, _why(found), seeds)
            return False
        late = self.trials.compare(fix.name, seeds, self.goal.percentile)
        if why := self._worse(fix, seeds, late, strict=False):
            self._drop(fix, why, seeds)
            return False
        return True

    def _drop(self, fix: Fix, why: str, seeds: range) -> None:
        self.out[fix.name] = self._not_advised(fix, why, seeds)
        self.field = [one for one in self.field if one is not fix]

    def _of(self, fix: Fix, seeds: range) -> float:
        """Return the gain of a fix as a factor, as the goal defines it."""
        return self.goal.times(self.trials, fix.name, seeds)


def _why(found: Mapping[str, Compared]) -> str:
    """Return the reason why a fix without a significant gain is not advised."""
    findings = {one.finding for one in found.values()}
    if findings <= {Finding.SAME}:
        return "changes nothing"
    if all(abs(one.b - one.a) < _HARDLY * one.a for one in found.values()):
        return "changes hardly anything"
    if Finding.BETTER in findings:
        return f"gains less than {WORTH - 1:.0%}"
    if findings <= {Finding.WORSE, Finding.SAME}:
        return "is worse than no fix"
    return "no certain gain"


def _ordered(advised: list[Advised]) -> list[Advised]:
    """Return the fixes in the order of advice.

    Fixes that meet the bound of the goal come before other fixes. Within each group, fixes close to
    the best come first, in the order of their price. The other fixes follow, the best first.
    """
    best = max((one.times for one in advised), default=0.0)

    def place(one: Advised) -> tuple[bool, bool, float, float, float]:
        near = one.times >= (1 - ALIKE) * best
        price = (one.fix.who.rank, one.fix.effort) if near else (0, 0)
        return (not one.kept, not near, *price, -one.times)

    return sorted(advised, key=place)


def rounds(search: Search, clock: Clock) -> int:
    """Run the rounds after the first while there is time; return the number of rounds done."""
    done = 1
    for number in range(1, len(ROUNDS)):
        try:
            search.round(number, clock)
        except TimeUp:
            break
        done = number + 1
    return done
