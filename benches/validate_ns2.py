"""Repeat the ns-2 reference runs, write docs/validation/ns2.md and its pictures.

Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation.compare import compare
from validation.judge import judge, tell
from validation.reference import load
from validation.report import write

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the validation."""
    console = Console(highlight=False)
    outcomes = []
    for name in "abdpve":
        points = load(name)
        outcomes += compare(points, os.cpu_count() or 1)
        console.print(f"set {name}: {len(points)} points, {sum(len(p.runs) for p in points)} runs")
    verdicts = judge(outcomes)
    write(FOLDER, outcomes, verdicts)
    return int(not tell(console, verdicts, "ns2.md"))


if __name__ == "__main__":
    sys.exit(main())
