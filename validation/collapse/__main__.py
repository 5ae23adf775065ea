"""Judge the model of the collapse, and write docs/validation/collapse.md.

Exits with 1 if the simulator no longer reproduces the kept table, or the model is worse than
published. `--simulate SET` makes the table of the set `development` or `held-out`, or continues
it; this takes an hour on one processor. `--again` simulates some of the development set with
other seeds.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from rich.console import Console

from incast.models.collapse.answers import forecast
from incast.models.collapse.blocks import SWEEP
from validation.collapse import table, truth
from validation.collapse.judge import agree, judge, reads_of, same
from validation.collapse.page import shares, write
from validation.common.command import asked_quick
from validation.common.places import PAGES

SPOT_CHECKS = 20
QUICK_CHECKS, QUICK_STEP, QUICK_MARGIN = 3, 6, 0.1
"""For a sample: the number of checks, the step between scenarios, and how far the share of points
found may be below the published share."""
PUBLISHED, PUBLISHED_NONE = 0.89, 0.9
"""Minimum shares found, of the held-out collapse points and of the reads without a collapse."""


def main() -> int:
    """Judge the model, or simulate the scenarios of a table."""
    if sys.argv[1:2] == ["--simulate"]:
        table.make(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["--again"]:
        table.repeat()
        return 0
    console = Console(highlight=False)
    quick = asked_quick(__doc__ or "")
    known = table.read("held-out")
    small = [(drawn, servers) for drawn, servers in known if servers and servers <= 24]
    for drawn, servers in small[: QUICK_CHECKS if quick else SPOT_CHECKS]:
        if not truth.simulate(drawn, servers).collapsed:
            console.print(f"FAILS  {drawn} no longer collapses at {servers} servers")
            return 1
    if quick:
        found, _ = shares(judge(known[::QUICK_STEP]))
        holds = found >= PUBLISHED - QUICK_MARGIN
        console.print(f"{'holds' if holds else 'FAILS'}  points found in a sample: {found:.0%}")
        return int(not holds)
    judged, swept = judge(known), judge(known, SWEEP)
    development = judge(table.read("development"))
    spent = sweep_s([drawn for drawn, _ in known[:100]])
    chance = same(table.read("development"), table.read("again"))
    agreement = agree(table.read("development"))
    for line in write(PAGES, judged, swept, development, chance, agreement, spent):
        console.print(line)
    console.print("written: docs/validation/collapse.md")
    found, none = shares(judged)
    return int(found < PUBLISHED or none < PUBLISHED_NONE)


def sweep_s(scenarios: list[table.Drawn]) -> float:
    """Return the seconds that 1 000 points take on two processors.

    The points are 100 scenarios with ten numbers of servers each. The time is half of this
    process's processor time; the lowest of three measurements counts.
    """
    reads = reads_of(scenarios).with_servers([2, 4, 6, 8, 12, 16, 24, 48, 96, 192])
    forecast(reads.take(np.arange(3)))
    spent = []
    for _ in range(3):
        start = time.process_time()
        forecast(reads)
        spent.append((time.process_time() - start) / 2)
    return min(spent)


if __name__ == "__main__":
    sys.exit(main())
