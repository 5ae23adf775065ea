"""Compare two fixes of different parties with the better one alone, in every scenario."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING

from incast.advise.case import case_of
from incast.advise.fixes import catalogue
from incast.advise.goal import WORTH
from incast.advise.trials import Clock, Trials
from incast.results.compare import Finding
from validation.advise.draw import scenarios
from validation.advise.table import SEEDS, Row, read
from validation.common.places import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from incast import Scenario
    from incast.advise.fixes import Fix

PAIRS = REFERENCE / "advise" / "pairs.csv"
EACH = 2
"""The number of fixes of each party that are paired: the best two."""
MUCH = 1.1
"""A pair is worth the work of two fixes if its goodput is at least this many times as high."""


@dataclass(frozen=True)
class Pair:
    """Two fixes in one scenario.

    Parameters
    ----------
    scenario
        Number of the scenario.
    fix, other
        Names of the fixes.
    over_better
        Goodput of the pair, divided by the goodput of the better fix of the two.
    over_best
        Goodput of the pair, divided by the goodput of the best single fix of the scenario.
    certain
        Whether the 95 % interval of the gain over the better fix is above 1.
    """

    scenario: int
    fix: str
    other: str
    over_better: float
    over_best: float
    certain: bool


def measured() -> Iterator[Pair]:
    """Yield all pairs, with the seeds of the exhaustive search."""
    rows, _ = read()
    for number, _, scenario in scenarios():
        yield from _of(number, scenario, rows[number])


def _of(number: int, scenario: Scenario, rows: list[Row]) -> Iterator[Pair]:
    case = case_of(scenario)
    fixes = {fix.name: fix for fix in catalogue(case)}
    pairs = {f"{one.name} + {other.name}": (one, other) for one, other in _candidates(fixes, rows)}
    trials = Trials(case)
    pairs = {
        name: two
        for name, two in pairs.items()
        if trials.add(name, two[0].changes | two[1].changes)
    }
    singles = {fix.name: fix for two in pairs.values() for fix in two}
    for name, fix in singles.items():
        trials.add(name, fix.changes, fix.pieces)
    if not pairs:
        return
    trials.run([*singles, *pairs], SEEDS, Clock(inf))
    best = max(row.goodput for row in rows if not row.slower)
    for name, two in pairs.items():
        goodput = trials.mean(name, SEEDS) or 0.0
        alone = {fix.name: trials.mean(fix.name, SEEDS) or 0.0 for fix in two}
        better = max(alone, key=lambda fix: alone[fix])
        compared = trials.compare(name, SEEDS, beside=better)
        certain = compared is not None and compared.finding is Finding.BETTER
        yield Pair(
            number, two[0].name, two[1].name, goodput / alone[better], goodput / best, certain
        )


def _candidates(fixes: Mapping[str, Fix], rows: list[Row]) -> Iterator[tuple[Fix, Fix]]:
    """Yield pairs of the best fixes of different parties, if they change different keys."""
    base = next(row.goodput for row in rows if not row.fix)
    best: dict[str, list[Fix]] = {}
    for row in sorted(rows, key=lambda it: -it.goodput):
        fix = fixes.get(row.fix)
        if fix is None or row.slower or row.goodput < WORTH * base:
            continue
        mine = best.setdefault(str(fix.who), [])
        if len(mine) < EACH:
            mine.append(fix)
    for one, other in combinations(best.values(), 2):
        for fix, second in product(one, other):
            if not set(fix.changes) & set(second.changes):
                yield fix, second


def make() -> None:
    """Make the table of pairs again."""
    with PAIRS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["scenario", "fix", "other", "over_better", "over_best", "certain"])
        for it in measured():
            ratios = (f"{it.over_better:.4g}", f"{it.over_best:.4g}")
            writer.writerow([it.scenario, it.fix, it.other, *ratios, int(it.certain)])


def read_pairs() -> list[Pair]:
    """Read the table."""
    with PAIRS.open(newline="") as file:
        return [
            Pair(
                int(it["scenario"]),
                it["fix"],
                it["other"],
                float(it["over_better"]),
                float(it["over_best"]),
                it["certain"] == "1",
            )
            for it in csv.DictReader(file)
        ]


def section(found: list[Pair]) -> list[str]:
    """Return the section of the page on pairs."""
    better = [it for it in found if it.certain and it.over_better > 1]
    much = [it for it in better if it.over_better > MUCH]
    best = [it for it in found if it.certain and it.over_best > MUCH]
    most = max(found, key=lambda it: it.over_best)
    text = _TEXT.format(
        each=EACH,
        count=len(found),
        scenarios=len({it.scenario for it in found}),
        better=len(better),
        much=len(much),
        best=len(best),
        share=f"{MUCH - 1:.0%}",
        most=most,
    )
    return ["## Two fixes at once", "", text, ""]


_TEXT = """\
Would two fixes together be better than one? `python -m validation.advise --pairs` combines the
{each} best fixes of each party (application, client, servers, switch) with the best fixes of every
other party, if the two fixes change different keys of the scenario. These are {count} pairs in
{scenarios} scenarios. {better} pairs are significantly better than the better of their two fixes
alone; {much} of these pairs are more than {share} better. {best} pairs are more than {share}
better than the best single fix of the scenario; the best pair reaches {most.over_best:.2f} times
the goodput of that fix (“{most.fix}” with “{most.other}” in scenario {most.scenario}). The advice
therefore does not search pairs."""
