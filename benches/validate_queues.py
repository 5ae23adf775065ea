"""Hold queues and fluids of the models against the engine, write docs/validation/queues.md.

Exits with 1 if a bar is missed. Takes some three minutes on two processors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation import fluids, queues
from validation.judge import tell
from validation.queues_page import Outcome, judge, write

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    outcome = Outcome(
        list(queues.compare(os.cpu_count() or 1)),
        fluids.windows(),
        fluids.dctcp(),
        fluids.reno(),
    )
    found = judge(outcome)
    write(FOLDER, outcome, found)
    return int(not tell(console, found, "queues.md"))


if __name__ == "__main__":
    sys.exit(main())
