"""Speed and memory, compared with ns-2, between transports, and with another build.

Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from timing import builds, peers, transports


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="compare NewReno with that of another build, whose package incast is in FOLDER "
        "(a checkout's python/ after maturin develop --release), and nothing else",
    )
    against = parser.parse_args().against
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    holds = True
    tables = (peers.table, transports.table)
    for make in tables if against is None else (lambda: builds.table(against),):
        table, met = make()
        console.print(table)
        holds &= met
    console.print(
        "One core; the fastest of runs that alternate between the two sides: of the event loop "
        "beside ns-2, of the processor's time elsewhere. Peak: the process, Python included."
    )
    if not holds:
        console.print("speed: a bar is missed")
    return int(not holds)


if __name__ == "__main__":
    sys.exit(main())
