"""Compare queues and fluid models with the engine, and write docs/validation/queues.md.

Exits with 1 if a bar is missed. Takes about three minutes on two processors.
"""

from __future__ import annotations

import os
import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES
from validation.queues import fluids, packets
from validation.queues.page import Outcome, judge, write


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    quick = asked_quick(__doc__ or "")
    jobs = os.cpu_count() or 1
    if quick:
        outcome = Outcome(
            list(packets.compare(jobs, packets.SAMPLE)),
            fluids.windows((1e-3,)),
            fluids.dctcp(fluids.DCTCP[:1]),
            fluids.reno(fluids.RENO[2:3]),
        )
        return int(not tell(console, judge(outcome), None))
    outcome = Outcome(list(packets.compare(jobs)), fluids.windows(), fluids.dctcp(), fluids.reno())
    found = judge(outcome)
    write(PAGES, outcome, found)
    return int(not tell(console, found, "queues.md"))


if __name__ == "__main__":
    sys.exit(main())
