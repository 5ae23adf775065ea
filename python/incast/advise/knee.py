"""Between which numbers of servers a read collapses: asked upwards, then by halves."""

from dataclasses import dataclass
from itertools import pairwise

from incast import units
from incast.advise.case import SERVERS, Case
from incast.advise.trials import Clock, TimeUp, Trials

SCAN_SEEDS, SEEDS = 3, 6
MOST_SERVERS = 256
_FARTHER = 4  # times the case's number of servers, at least
_STEP, _CLOSE = 1.5, 1.12


@dataclass(frozen=True)
class Knee:
    """Where the read collapses.

    Parameters
    ----------
    servers
        Those of the case.
    low
        The most servers below the collapse with which no seed collapses; 0 if the fewest tried do.
    high
        The fewest servers with which the mean over the seeds has collapsed; None if none tried has.
    most
        The most servers that were tried.
    seeds
        Seeds of every number.
    """

    servers: int
    low: int
    high: int | None
    most: int
    seeds: int

    def sentence(self) -> str:
        """Return the interval, and how far the case is from it."""
        seeds = units.plural(self.seeds, "seed")
        if self.high is None:
            return f"No collapse up to {self.most} servers, the most tried ({seeds} each)."
        where = (
            f"between {self.low} and {self.high} servers"
            if self.low
            else f"from {self.high} servers on, the fewest tried"
        )
        text = f"Collapses {where} ({seeds} each)"
        if self.servers >= self.high:
            return f"{text}; you have {self.servers}."
        if self.servers > self.low:
            return f"{text}; you have {self.servers}, between the two."
        return f"{text}; you have {self.servers}: {self.high / self.servers:.1f} times fewer."


def knee(case: Case, trials: Trials, clock: Clock) -> Knee | None:
    """Search the collapse; None where it is not defined, or there is no time for it."""
    if not case.reads or "active" in case.here.tree["workload"]:
        return None
    hunt = _Hunt(case, trials, clock)
    try:
        hunt.scan()
        hunt.halve()
    except TimeUp:
        pass
    return hunt.known()


class _Hunt:
    """The numbers tried so far."""

    def __init__(self, case: Case, trials: Trials, clock: Clock) -> None:
        self.case, self.trials, self.clock = case, trials, clock
        self.seeds = SCAN_SEEDS
        self.tried: dict[int, tuple[bool, float]] = {}

    def scan(self) -> None:
        """Ask upwards, in steps of a half, until one collapses after the case's own number."""
        mine = self.case.here.servers
        upto = [n for n in _ladder(max(MOST_SERVERS, mine)) if n <= mine]
        self.ask(sorted({*upto, mine}))
        most = min(max(_FARTHER * mine, 16), max(MOST_SERVERS, mine))
        for servers in (n for n in _ladder(most) if n > mine):
            if any(bad for bad, _ in self.tried.values()):
                break
            self.ask([servers])

    def halve(self) -> None:
        """Ask between the last that holds and the first that collapses, with more seeds."""
        self.seeds = SEEDS
        high = self.first()
        while high is not None:
            low = max((n for n, (bad, _) in self.tried.items() if n < high and not bad), default=1)
            self.ask([n for n in (low, high) if n > 1])  # with as many seeds as the others
            if self.first() != high:
                high = self.first()
            elif high - low <= 1 or high <= _CLOSE * low:
                break
            else:
                self.ask([(low + high) // 2])
                high = self.first()

    def ask(self, numbers: list[int]) -> None:
        names = {n: f"{n} servers" for n in numbers}
        for n, name in names.items():
            if name not in self.trials.points and not self.trials.add(name, {SERVERS: n}):
                names[n] = ""
        names = {n: name for n, name in names.items() if name}
        seeds = range(1, self.seeds + 1)
        self.trials.run(names.values(), seeds, self.clock)
        for n, name in names.items():
            told = self.trials.collapsed(name, seeds)
            if told is not None:
                self.tried[n] = told

    def first(self) -> int | None:
        """Return the fewest servers with which the mean has collapsed."""
        return min((n for n, (bad, _) in self.tried.items() if bad), default=None)

    def known(self) -> Knee | None:
        if not self.tried:
            return None
        high = self.first()
        safe = [n for n, (_, share) in self.tried.items() if not share and n < (high or n + 1)]
        low = max(safe, default=0)
        return Knee(self.case.here.servers, low, high, max(self.tried), self.seeds)


def _ladder(most: int) -> list[int]:
    """Return numbers of servers from 2 on, in steps of a half."""
    ladder = [2, 3]
    while ladder[-1] * _STEP <= most:
        ladder.append(round(ladder[-1] * _STEP))
    return sorted({*ladder, most}) if all(b > a for a, b in pairwise(ladder)) else ladder
