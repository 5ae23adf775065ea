"""Hold queues and fluids of the models against the engine, write docs/validation/queues.md.

Exits with 1 if a bar is missed. Takes some three minutes on two processors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation import fluids, queues
from validation.command import asked_quick
from validation.judge import tell
from validation.queues_page import Outcome, judge, write

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    quick = asked_quick(__doc__ or "")
    jobs = os.cpu_count() or 1
    if quick:
        outcome = Outcome(
            list(queues.compare(jobs, queues.SAMPLE)),
            fluids.windows((1e-3,)),
            fluids.dctcp(fluids.DCTCP[:1]),
            fluids.reno(fluids.RENO[2:3]),
        )
        return int(not tell(console, judge(outcome), None))
    outcome = Outcome(list(queues.compare(jobs)), fluids.windows(), fluids.dctcp(), fluids.reno())
    found = judge(outcome)
    write(FOLDER, outcome, found)
    return int(not tell(console, found, "queues.md"))


if __name__ == "__main__":
    sys.exit(main())
