"""Compare advice with the exhaustive search: first fix, collapse point, slowest blocks."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from incast.advise import Advice, advise
from validation.advise.draw import scenarios
from validation.advise.table import MOST_SERVERS, Row, read
from validation.common.judge import Verdict

CLOSE = 0.9  # minimum of `share`, the first fix's value divided by the best fix's value
MOST = 0.9  # minimum share of the scenarios in which a bar must hold


@dataclass(frozen=True)
class Judged:
    """The advice for one scenario, compared with the exhaustive search.

    Parameters
    ----------
    number, story
        Number of the scenario, and its kind of user.
    servers
        Number of servers of the scenario.
    first
        The first advised fix; empty if no fix is advised.
    share
        The first fix's value in the search, divided by the best fix's value. For the goal goodput,
        the value is the goodput; for the goal p99, it is 1 / p99.
    best, gain
        The best fix of the search, and its value divided by the value without a fix.
    point
        The collapse point of the search; None if no tried number of servers collapses.
    interval
        The advice's interval for the collapse point.
    holds
        Whether the interval contains the point.
    slower
        The advised fixes that make the slowest blocks slower in the search.
    seconds
        Seconds that the advice took.
    """

    number: int
    story: str
    servers: int
    first: str
    share: float
    best: str
    gain: float
    point: int | None
    interval: tuple[int, int | None]
    holds: bool
    slower: tuple[str, ...]
    seconds: float


def judge(numbers: Iterable[int], budget: float | None, goal: str) -> list[Judged]:
    """Ask for advice in the scenarios with these numbers, for the goal goodput or p99."""
    rows, points = read()
    wanted = set(numbers)
    return [
        judged(
            (number, story.name),
            advise(scenario, budget=budget, goal=goal),
            rows[number],
            points[number],
        )
        for number, story, scenario in scenarios()
        if number in wanted
    ]


def judged(place: tuple[int, str], advice: Advice, rows: list[Row], point: int | None) -> Judged:
    """Compare one answer with the exhaustive search."""
    found = {row.fix: row for row in rows}

    def good(row: Row) -> float:
        return 1 / row.p99 if advice.goal.name == "p99" else row.goodput

    base = found[""]
    # Advice contains no fix that lowers goodput or makes the slowest blocks slower.
    fair = [row for row in rows if not row.slower and not row.poorer]
    best = max(fair, key=good)
    first = advice.fixes[0].fix.name if advice.fixes else ""
    low, high = (advice.knee.low, advice.knee.high) if advice.knee else (0, None)
    return Judged(
        *place,
        advice.case.here.servers,
        first,
        good(found[first]) / good(best),
        best.fix,
        good(best) / good(base),
        point,
        (low, high),
        _holds(point, low, high),
        tuple(one.fix.name for one in advice.found.advised if found[one.fix.name].slower),
        advice.seconds,
    )


def _holds(point: int | None, low: int, high: int | None) -> bool:
    """Return whether an interval contains the point; a point above `MOST_SERVERS` is None."""
    if point is None:
        return high is None or high > MOST_SERVERS
    return low < point and (high is None or point <= high)


def bars(found: list[Judged], goal: str) -> list[Verdict]:
    """Judge the three bars of a goal."""
    share = 100 * MOST
    return [
        _bar(
            f"{goal}: the first fix is within {1 - CLOSE:.0%} of the best fix in {share:.0f} % of "
            "the scenarios",
            found,
            [it for it in found if it.share < CLOSE],
            lambda it: (
                f"the first fix, “{it.first or 'nothing'}”, reaches {it.share:.0%} "
                f"of the best fix, “{it.best}”"
            ),
        ),
        _bar(
            f"{goal}: the interval contains the collapse point in {share:.0f} % of the scenarios",
            found,
            [it for it in found if not it.holds],
            lambda it: f"collapses at {it.point}, interval {it.interval[0]} to {it.interval[1]}",
        ),
        _bar(
            f"{goal}: no advised fix makes the slowest blocks slower",
            found,
            [it for it in found if it.slower],
            lambda it: ", ".join(it.slower),
            most=1.0,
        ),
    ]


def _bar(
    bar: str,
    found: list[Judged],
    misses: list[Judged],
    say: Callable[[Judged], str],
    most: float = MOST,
) -> Verdict:
    """Judge a bar that must hold in a share `most` of the scenarios; list those that miss it."""
    kept = len(found) - len(misses)
    told = tuple(f"{it.number} ({it.story}, {it.servers} servers): {say(it)}" for it in misses)
    return Verdict(bar, f"{kept} of {len(found)}", told, kept >= most * len(found))
