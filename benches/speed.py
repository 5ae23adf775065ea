"""Measures speed and memory of the engine's cases and transports, of ns-2, and of another build.

Exits with 1 if instructions per packet-hop have grown. Limits on times hold only on an idle
machine. A time above its limit is therefore printed, but does not change the exit code.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from timing import builds, engine, instructions, peers, scale, start, transports
from timing.page import page
from timing.shapes import SHAPES
from timing.sheet import Sheet


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="only compare NewReno in this build with NewReno in another build, whose package "
        "incast is in FOLDER (a checkout's python/ after maturin develop --release)",
    )
    parser.add_argument(
        "--guided", action="store_true", help="use the bars for builds of `make pgo`"
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep this run's counts of instructions"
    )
    parser.add_argument("--only", choices=SHEETS, help="make this table only")
    parser.add_argument("--page", type=Path, help="write the tables, and the growth, to this page")
    arguments = parser.parse_args()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    made = []
    for sheet in _sheets(arguments):
        console.print(sheet.table())
        for missed in sheet.missed:
            console.print(f"missed: {missed}")
        console.print()
        made.append(sheet)
    if arguments.page:
        grown = scale.measure(SHAPES)
        scale.draw(grown, arguments.page.parent / "_static" / "performance.svg")
        made.append(scale.sheet(grown))
        arguments.page.write_text(page(made, guided=arguments.guided))
    strict = {"Instructions per packet-hop", "Two builds"}
    return int(any(sheet.missed for sheet in made if sheet.title in strict))


SHEETS: dict[str, Callable[[argparse.Namespace], Sheet]] = {
    "engine": lambda arguments: engine.sheet(guided=arguments.guided),
    "ns2": lambda arguments: peers.sheet(guided=arguments.guided),
    "transports": lambda _: transports.sheet(),
    "start": lambda _: start.sheet(),
    "instructions": lambda arguments: instructions.sheet(keep=arguments.keep),
}


def _sheets(arguments: argparse.Namespace) -> Iterator[Sheet]:
    if arguments.against is not None:
        yield builds.sheet(arguments.against)
        return
    for name, make in SHEETS.items():
        if arguments.only in (None, name):
            yield make(arguments)


if __name__ == "__main__":
    sys.exit(main())
