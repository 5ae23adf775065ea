"""Measures speed and memory of the engine's cases and transports, beside ns-2, htsim and probes.

Exits with 1 if instructions per packet-hop have grown. Limits on times hold only on an idle
machine. A time above its limit is therefore printed, but does not change the exit code.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from rich.console import Console
from timing import (
    builds,
    crates,
    engine,
    htsim,
    instructions,
    packages,
    peers,
    scale,
    start,
    transports,
)
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
        "--builds",
        type=Path,
        metavar="FOLDER",
        help="compare with the other builds in this folder: FOLDER/pgo/incast, FOLDER/demo/incast",
    )
    parser.add_argument(
        "--keep", action="store_true", help="keep this run's counts of instructions"
    )
    parser.add_argument("--only", choices=SHEETS, help="make this table only")
    parser.add_argument(
        "--page",
        type=Path,
        help="write the tables and the growth to this page, and keep the numbers of README",
    )
    arguments = parser.parse_args()
    # A wrong program is refused before the minutes that the other tables take.
    arguments.htsim = htsim.program()
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
        arguments.page.write_text(page(made))
        packages.keep({name: number for sheet in made for name, number in sheet.kept.items()})
    strict = {"Instructions per packet-hop", "Two builds"}
    return int(any(sheet.missed for sheet in made if sheet.title in strict))


def _engine(arguments: argparse.Namespace) -> Iterator[Sheet]:
    measured = packages.builds(arguments.builds)
    batches = engine.measure(measured)
    yield engine.sheet(batches)
    yield engine.compared(batches, measured)


def _instructions(arguments: argparse.Namespace) -> Iterator[Sheet]:
    yield instructions.sheet(keep=arguments.keep)
    yield crates.sheet()


SHEETS: dict[str, Callable[[argparse.Namespace], Iterable[Sheet]]] = {
    "engine": _engine,
    "htsim": lambda asked: [htsim.sheet(packages.builds(asked.builds), asked.htsim)],
    "ns2": lambda asked: [peers.sheet(packages.builds(asked.builds))],
    "transports": lambda _: [transports.sheet()],
    "start": lambda _: [start.sheet()],
    "instructions": _instructions,
}


def _sheets(arguments: argparse.Namespace) -> Iterator[Sheet]:
    if arguments.against is not None:
        yield builds.sheet(arguments.against)
        return
    for name, make in SHEETS.items():
        if arguments.only in (None, name):
            yield from make(arguments)


if __name__ == "__main__":
    sys.exit(main())
