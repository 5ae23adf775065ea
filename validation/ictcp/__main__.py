"""Test the headline of ICTCP's paper, no collapse up to 47 servers; write docs/validation/ictcp.md.

Exits with 1 if a bar is missed. Takes half a minute.
"""

from __future__ import annotations

import os
import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES
from validation.ictcp import runs
from validation.ictcp.page import write


def main() -> int:
    """Run all numbers of servers, or a sample of them with one seed."""
    console, jobs = Console(highlight=False), os.cpu_count() or 1
    if asked_quick(__doc__ or ""):
        sample = runs.run(runs.SAMPLE, 1, jobs)
        return int(not tell(console, runs.judge(sample), None))
    found = runs.run(runs.SERVERS, runs.SEEDS, jobs)
    verdicts = runs.judge(found)
    write(PAGES, found, verdicts)
    return int(not tell(console, verdicts, "ictcp.md"))


if __name__ == "__main__":
    sys.exit(main())
