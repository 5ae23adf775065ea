"""Compare the remedies' `auto` with given parameters, and write docs/validation/auto.md.

Exits with 1 if auto holds at fewer points than the page states. Takes about six minutes on two
processors.
"""

from __future__ import annotations

import os
import sys

from rich.console import Console

from validation.auto import compare as auto
from validation.auto.page import PUBLISHED, holding, judge, write
from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    jobs = os.cpu_count() or 1
    if asked_quick(__doc__ or ""):
        points = list(auto.compare(jobs, auto.SAMPLE))
        return int(not tell(console, judge(points), None))
    points = list(auto.compare(jobs))
    found = judge(points)
    write(PAGES, points, found)
    tell(console, found, "auto.md")
    return int(any(holding(points, name) < count for name, count in PUBLISHED.items()))


if __name__ == "__main__":
    sys.exit(main())
