"""Test in fresh scenarios whether the stated number of servers and all smaller ones are safe."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from incast.advise.case import SERVERS, Case, case_of
from incast.advise.knee import knee
from incast.advise.trials import Clock, Trials
from validation.advise.draw import FRESH, scenarios
from validation.advise.table import POINT_SEEDS
from validation.common.judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

SHARE = 0.95  # minimum share of the scenarios in which the stated number must be safe


@dataclass(frozen=True)
class Stated:
    """The number of servers that the advice calls safe, and the collapses up to this number.

    Parameters
    ----------
    number, story
        Number of the scenario, and its kind of user.
    low
        The largest number of servers that is called safe.
    collapses
        Numbers of servers up to `low` at which the mean over the seeds collapses.
    rare
        Numbers of servers up to `low` at which at least one seed collapses.
    """

    number: int
    story: str
    low: int
    collapses: tuple[int, ...]
    rare: tuple[int, ...]


def stated(numbers: Iterable[int] | None = None) -> list[Stated]:
    """Ask for the collapse points of fresh scenarios, and try every number that is called safe."""
    wanted = None if numbers is None else set(numbers)
    found = []
    for number, story, scenario in scenarios(FRESH):
        if wanted is not None and number not in wanted:
            continue
        case = case_of(scenario)
        told = knee(case, Trials(case), Clock(inf))
        low = told.low if told is not None else 0
        found.append(Stated(number, story.name, low, *_unsafe(case, low)))
    return found


def _unsafe(case: Case, low: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers up to `low` at which the mean collapses, and at which any seed does."""
    trials, collapses, rare = Trials(case), [], []
    names = {n: str(n) for n in range(2, low + 1) if trials.add(str(n), {SERVERS: n})}
    if names:
        trials.run(names.values(), POINT_SEEDS, Clock(inf))
    for n, name in names.items():
        told = trials.collapsed(name, POINT_SEEDS)
        if told is not None and told[0]:
            collapses.append(n)
        if told is not None and told[1]:
            rare.append(n)
    return tuple(collapses), tuple(rare)


def bar(found: list[Stated]) -> Verdict:
    """Judge whether the stated numbers are safe."""
    misses = [it for it in found if it.collapses]
    told = tuple(
        f"{it.number} ({it.story}): safe up to {it.low}, collapses at "
        f"{', '.join(map(str, it.collapses))}"
        for it in misses
    )
    kept = len(found) - len(misses)
    return Verdict(
        f"the number called safe, and every smaller one, is safe in {SHARE:.0%} of scenarios",
        f"{kept} of {len(found)}",
        told,
        kept >= SHARE * len(found),
    )
