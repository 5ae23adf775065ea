"""Repeat the ns-2 reference runs, and write docs/validation/ns2.md and its pictures.

Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import os
import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import judge, tell
from validation.common.places import PAGES
from validation.ns2 import reads, reads_page
from validation.ns2.compare import compare
from validation.ns2.reference import load
from validation.ns2.report import write


def main() -> int:
    """Run the validation."""
    console = Console(highlight=False)
    jobs = os.cpu_count() or 1
    if asked_quick(__doc__):
        return int(not tell(console, reads_page.judge_sample(sample(jobs)), None))
    outcomes = []
    for name in "abdpve":
        points = load(name)
        outcomes += compare(points, jobs)
        console.print(f"set {name}: {len(points)} points, {sum(len(p.runs) for p in points)} runs")
    pairs = reads.compare(reads.load(), jobs)
    verdicts = [*judge(outcomes), *reads_page.judge(pairs)]
    write(PAGES, outcomes, verdicts, reads_page.tables(pairs))
    return int(not tell(console, verdicts, "ns2.md"))


def sample(jobs: int) -> list[reads.Pair]:
    """Repeat points of every set, except for sets that take long or depend on rare events."""
    servers = {"star": 8, "sack": 8, "tahoe": 8, "red": 12}
    kept = {
        read: rows
        for read, rows in reads.load().items()
        if read.servers == servers.get(read.set) and read.rate == 1000
    }
    return reads.compare(kept, jobs)


if __name__ == "__main__":
    sys.exit(main())
