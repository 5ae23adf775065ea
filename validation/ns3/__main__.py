"""Repeat the ns-3 reference runs, and write docs/validation/ns3.md and its picture.

Exits with 1 if a bar is missed. `--quick` repeats a few points of each kind and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys

from rich.console import Console

from validation.common.judge import tell
from validation.common.places import PAGES
from validation.ns3.compare import compare
from validation.ns3.page import judge, write


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few points, and no page")
    quick = parser.parse_args().quick
    console = Console(highlight=False)
    points = compare(os.cpu_count() or 1, quick=quick)
    found = judge(points)
    if quick:
        return int(not tell(console, found, None))
    write(PAGES, points, found)
    return int(not tell(console, found, "ns3.md"))


if __name__ == "__main__":
    sys.exit(main())
