"""Rank the remedies over random scenarios, and write docs/validation/ranking.md.

python -m validation.ranking [--scenarios 500] [--jobs N]

Simulates the scenarios, and the rows of scenarios/remedies.toml, that are missing in the stored
table. It can be interrupted, because each result is stored at once. Exits with 1 if the simulator
no longer reproduces the table; in this case, delete the table, and make it again.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from validation.common.places import PAGES
from validation.ranking import table
from validation.ranking.judge import judge
from validation.ranking.page import write

SPOT_CHECKS = 10


def main() -> int:
    """Simulate the missing rows, check a sample of the stored rows, and judge the remedies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenarios", type=int, default=500)
    parser.add_argument("--jobs", type=int, help="parallel runs; default: one per processor")
    parser.add_argument("--quick", action="store_true", help="one check; writes no page")
    options = parser.parse_args()
    console = Console(highlight=False)
    for drawn, shares in table.read()[: 1 if options.quick else SPOT_CHECKS]:
        again = table.simulate(drawn, options.jobs)
        for label, share in shares.items():
            if again.get(label, share) != share:
                console.print(f"FAILS  {label} in {drawn}: {again[label]} instead of {share}")
                return 1
    if options.quick:
        return 0
    for number in table.make(options.scenarios, options.jobs):
        if (number + 1) % 50 == 0:
            console.print(f"{number + 1} scenarios")
    for line in write(PAGES, judge(table.read()[: options.scenarios])):
        console.print(line, soft_wrap=True)
    console.print("written: docs/validation/ranking.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
