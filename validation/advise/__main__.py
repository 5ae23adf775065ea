"""Compare advice with an exhaustive search, and write docs/validation/advise.md.

Exits with 1 if a bar is missed. `--quick` asks for advice in three scenarios. `--keep` makes the
tables of the exhaustive search again, which takes about ten minutes of one processor. `--pairs`
makes the table of pairs of fixes again, which takes as long.
"""

from __future__ import annotations

import sys

from rich.console import Console

from incast.advise.case import case_of
from validation.advise import pairs, safe, table
from validation.advise.draw import scenarios
from validation.advise.judge import bars, judge
from validation.advise.page import write
from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES

QUICK = (12, 33, 54)
"""Numbers of three small scenarios of different kinds."""
GOALS = ("goodput", "p99")
BUDGET_S = 20.0


def main() -> int:
    """Judge the advice, or make tables."""
    if sys.argv[1:2] == ["--keep"]:
        table.make()
        return 0
    if sys.argv[1:2] == ["--pairs"]:
        pairs.make()
        return 0
    console = Console(highlight=False)
    quick = asked_quick(__doc__ or "")
    rows, _ = table.read()
    chosen = [it for it in scenarios() if it[0] in QUICK]
    for number, _, scenario in chosen[:1]:
        row = rows[number][1]
        again = table.spot(case_of(scenario), row.fix)
        if abs(again / row.goodput - 1) > 1e-4:
            console.print(f"FAILS  “{row.fix}” in {number}: {again:.6g} instead of {row.goodput}")
            return 1
    numbers = QUICK if quick else tuple(rows)
    found = {goal: judge(numbers, BUDGET_S, goal) for goal in GOALS}
    held = [bar for goal, one in found.items() for bar in bars(one, goal)]
    held.append(safe.bar(safe.stated(QUICK if quick else None)))
    if not quick:
        write(PAGES, found, held, f"{BUDGET_S:.0f} s")
    return int(not tell(console, held, None if quick else "advise.md"))


if __name__ == "__main__":
    sys.exit(main())
