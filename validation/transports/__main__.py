"""Compare Debian's ns-2 with this simulator, and write docs/validation/ns2-transports.md.

Exits with 1 if a bar is missed. Takes about ten minutes on two processors.
"""

from __future__ import annotations

import os
import shutil
import sys

from rich.console import Console

from validation.common.command import asked_quick
from validation.common.judge import tell
from validation.common.places import PAGES
from validation.transports.live import SAMPLE, compare
from validation.transports.page import judge, write


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    quick = asked_quick(__doc__)
    if shutil.which("ns") is None:
        console.print("ns is not installed (Debian: apt install ns2); nothing compared")
        return 0
    if quick:
        found = judge(compare(os.cpu_count() or 1, SAMPLE))
        return int(not tell(console, found, None))
    pairs = compare(os.cpu_count() or 1)
    found = judge(pairs)
    write(PAGES, pairs, found)
    return int(not tell(console, found, "ns2-transports.md"))


if __name__ == "__main__":
    sys.exit(main())
