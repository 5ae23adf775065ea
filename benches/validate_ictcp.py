"""Run ICTCP's own headline, no collapse up to 47 servers; write docs/validation/ictcp.md.

Exits with 1 if a bar is missed. Takes half a minute.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation import ictcp
from validation.command import asked_quick
from validation.ictcp_page import write
from validation.judge import tell

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run all servers, or a sample of them at one seed."""
    console, jobs = Console(highlight=False), os.cpu_count() or 1
    if asked_quick(__doc__ or ""):
        sample = ictcp.run(ictcp.SAMPLE, 1, jobs)
        return int(not tell(console, ictcp.judge(sample), None))
    found = ictcp.run(ictcp.SERVERS, ictcp.SEEDS, jobs)
    verdicts = ictcp.judge(found)
    write(FOLDER, found, verdicts)
    return int(not tell(console, verdicts, "ictcp.md"))


if __name__ == "__main__":
    sys.exit(main())
