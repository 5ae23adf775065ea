"""Search for the numbers of servers between which a read begins to collapse."""

from collections.abc import Iterator
from dataclasses import dataclass

from incast import units
from incast.advise.case import SERVERS, Case
from incast.advise.trials import Clock, TimeUp, Trials

SCAN_SEEDS, SEEDS = 6, 12
MOST_SERVERS = 256
_FARTHER = 4  # the search tries numbers up to this multiple of the case's number
_STEP, _CLOSE = 1.25, 0.12
_MOST = 0.75  # a collapse is certain if at least this share of the seeds collapses
_TOGETHER = 8  # numbers that are tried at a time
_LOOKS = 16  # maximum number of steps that narrow the interval


@dataclass(frozen=True)
class Knee:
    """The numbers of servers between which the read begins to collapse.

    Parameters
    ----------
    servers
        The number of servers of the case.
    low
        The largest number of servers tried such that no seed collapses with this or a smaller
        number; 0 if a seed collapses with the smallest number tried.
    high
        The smallest number of servers for which the mean over the seeds has collapsed, and at
        least three quarters of the seeds as well; None if there is no such number.
    most
        The largest number of servers tried.
    seeds
        The number of seeds with which `low` and `high` were tried.
    """

    servers: int
    low: int
    high: int | None
    most: int
    seeds: int

    def sentence(self) -> str:
        """Return a sentence on the interval, and on how far the case is from the interval."""
        seeds = units.plural(self.seeds, "seed")
        if self.high is None and self.low == self.most:
            most = f"{self.most} servers, the largest number tried"
            return f"No collapse up to {most} ({seeds} each)."
        if self.high is None:
            return (
                f"No collapse up to {self.low} servers; between {self.low} and {self.most}, some "
                f"seeds collapse ({seeds} each); you have {self.servers}."
            )
        where = (
            f"between {self.low} and {self.high} servers"
            if self.low
            else f"from {self.high} servers on, and perhaps with fewer"
        )
        text = f"Collapses {where} ({seeds} each)"
        if self.servers >= self.high:
            return f"{text}; you have {self.servers}."
        if self.servers > self.low:
            return f"{text}; you have {self.servers}, in the uncertain range."
        fewer = f"{self.high / self.servers:.1f} times fewer"
        return f"{text}; you have {self.servers}, which is {fewer}."


def knee(case: Case, trials: Trials, clock: Clock) -> Knee | None:
    """Search for the collapse; return None if no collapse is defined or if there is no time."""
    if not case.reads or "active" in case.here.tree["workload"]:
        return None
    hunt = _Hunt(case, trials, clock)
    try:
        hunt.scan()
        hunt.narrow()
        hunt.verify()
    except TimeUp:
        pass
    return hunt.known()


class _Hunt:
    """A search in progress, with the numbers of servers tried so far."""

    def __init__(self, case: Case, trials: Trials, clock: Clock) -> None:
        self.case, self.trials, self.clock = case, trials, clock
        self.seeds = SCAN_SEEDS
        self.tried: dict[int, tuple[bool, float]] = {}
        self.asked: dict[int, int] = {}

    def scan(self) -> None:
        """Try numbers up to the case's number, then larger numbers until the read collapses."""
        mine = self.case.here.servers
        upto = [n for n in _ladder(max(MOST_SERVERS, mine)) if n <= mine]
        self.ask(sorted({*upto, mine}))
        most = min(max(_FARTHER * mine, 16), max(MOST_SERVERS, mine))
        for servers in (n for n in _ladder(most) if n > mine):
            if self.high() is not None:
                break
            self.ask([servers])

    def narrow(self) -> None:
        """Try numbers near both ends of the interval, with more seeds."""
        self.seeds = SEEDS
        for _ in range(_LOOKS):
            wanted = set(self.wanted())
            if not wanted:
                break
            self.ask(sorted(wanted))

    def verify(self) -> None:
        """Try every number below the lower end: a read may collapse there, too."""
        self.seeds = SEEDS
        while below := [n for n in range(2, self.low()) if self.asked.get(n, 0) < SEEDS]:
            self.ask(below[-_TOGETHER:])

    def wanted(self) -> Iterator[int]:
        """Yield the interval's ends that need more seeds; if none do, numbers close to them."""
        low, high = self.low(), self.high()
        ends = [n for n in (low, high) if n and self.asked[n] < SEEDS]
        if ends:
            yield from ends
            return
        above = min((n for n in self.tried if n > low), default=low)
        yield from _between(low, above)
        if high is not None:
            yield from _between(max((n for n in self.tried if n < high), default=1), high)

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
                self.tried[n], self.asked[n] = told, self.seeds

    def low(self) -> int:
        """Return the largest number tried up to which no seed collapses; 0 if there is none."""
        first = min((n for n, (bad, share) in self.tried.items() if bad or share), default=None)
        return max((n for n in self.tried if first is None or n < first), default=0)

    def high(self) -> int | None:
        """Return the smallest number of servers with which a collapse is certain."""
        sure = (n for n, (bad, share) in self.tried.items() if bad and share >= _MOST)
        return min(sure, default=None)

    def known(self) -> Knee | None:
        if not self.tried:
            return None
        mine, most = self.case.here.servers, max(self.tried)
        return Knee(mine, self.low(), self.high(), most, self.seeds)


def _between(low: int, high: int) -> Iterator[int]:
    """Yield the middle of two numbers, unless the two are close."""
    if high - low > max(1, _CLOSE * high):
        yield (low + high) // 2


def _ladder(most: int) -> list[int]:
    """Return numbers of servers from 2 to `most`.

    Each number exceeds the number before it by about a quarter, and by at least 1.
    """
    ladder = [2]
    while ladder[-1] < most:
        ladder.append(min(max(round(ladder[-1] * _STEP), ladder[-1] + 1), most))
    return ladder
