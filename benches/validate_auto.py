"""Hold the remedies' `auto` against given parameters, write docs/validation/auto.md.

Exits with 1 if a bar is missed. Takes two to three minutes on two processors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rich.console import Console
from validation import auto
from validation.auto_page import judge, write
from validation.judge import tell

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "validation"


def main() -> int:
    """Run the comparison."""
    console = Console(highlight=False)
    points = list(auto.compare(os.cpu_count() or 1))
    found = judge(points)
    write(FOLDER, points, found)
    return int(not tell(console, found, "auto.md"))


if __name__ == "__main__":
    sys.exit(main())
