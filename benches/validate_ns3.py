"""Repeat the ns-3 reference runs, write docs/validation/ns3.md and its picture.

Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation.ns3 import compare
from validation.ns3_page import judge, write

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    points = compare(os.cpu_count() or 1)
    found = judge(points)
    write(FOLDER, points, found)
    for verdict in found:
        console.print(f"{'holds' if verdict.holds else 'FAILS'}  {verdict.bar}: {verdict.measured}")
        for miss in verdict.misses:
            console.print(f"       {miss}")
    console.print("written: docs/validation/ns3.md")
    return int(not all(verdict.holds for verdict in found))


if __name__ == "__main__":
    sys.exit(main())
