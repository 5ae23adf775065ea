"""Measures the growth of time and memory with the size of a scenario.

Time and instructions must grow as a power of the work with an exponent of about 1. Exits with 1 if
an exponent is larger than its bar.
"""

from __future__ import annotations

import argparse
import sys

from rich.console import Console
from rich.progress import track
from timing import scale
from timing.shapes import SHAPES


def main() -> int:
    """Run the shapes, and print their growth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "only", nargs="*", help="run only the shapes whose names contain one of these strings"
    )
    only = parser.parse_args().only
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    chosen = [one for one in SHAPES if not only or any(word in one.name for word in only)]
    made = scale.sheet(scale.measure(track(chosen, console=Console(stderr=True))))
    console.print(made.table())
    for missed in made.missed:
        console.print(f"missed: {missed}")
    return int(bool(made.missed))


if __name__ == "__main__":
    sys.exit(main())
