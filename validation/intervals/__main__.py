"""Count how often confidence intervals contain the true mean; write docs/validation/intervals.md.

There are 200 repetitions of ten seeds at each of six points; the true mean is the mean over all
2 000 seeds. Exits with 1 if the intervals of goodput, completion or timeouts contain the true mean
too rarely. `--quick` takes fewer repetitions and does not change the page.
"""

from __future__ import annotations

import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.intervals.judge import POINTS, judge, sample
from validation.intervals.page import lines, write

SEEDS, REPETITIONS = 10, 200
QUICK, QUICK_MARGIN = 40, 0.1
"""The number of repetitions of a sample, and how far its shares may be below the bars."""


def main() -> int:
    """Judge every point."""
    quick = asked_quick(__doc__ or "")
    console = Console(highlight=False)
    count, margin = (QUICK, QUICK_MARGIN) if quick else (REPETITIONS, 0.0)
    judged = [judge(point, sample(point, count * SEEDS), SEEDS) for point in POINTS]
    for line in lines(judged):
        console.print(line)
    failed = False
    for one in judged:
        for name, share in one.missed(margin):
            console.print(f"FAILS  {one.point.name}: {name} contains the true mean in {share:.1%}")
            failed = True
    if not quick:
        write(judged, SEEDS, count)
        console.print("written: docs/validation/intervals.md")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
