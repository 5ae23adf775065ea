"""Counts the source files that a data segment and its ACK enter, and the instructions in each.

python benches/walk.py [--transport NAME] [--package FOLDER]

Callgrind counts the instructions of a short and a long read in a star with ample buffer; the
difference belongs to the additional packets. A packet counts as entering a file if one of the
file's instructions, inlined or not, is executed at least once per two packets. The script needs
valgrind and a build with optimisation (`make .venv/release`). Exits with 1 if packets enter more
files than the limit allows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table
from timing import callgrind, cases
from timing.cases import AMPLE

MOST_FILES = 22
SERVERS = 4
SHORT, LONG = 1_000_000, 3_000_000
LINKS = 4
"""Number of links that a segment and its ACK cross, in total."""
LEAST = 0.5
LIBRARY = ""
"""Path of Rust's library: its instructions are counted, but its files are not listed."""
POSITION = re.compile(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"(0x[0-9a-f]+|[+-]\d+|\*) (?:\d+|[+-]\d+|\*) (\d+)$")

Counts = Counter[tuple[str, int]]


def main() -> int:
    """Count, and print the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", default="newreno")
    parser.add_argument("--package", type=Path, help="the folder of another build's package")
    arguments = parser.parse_args()
    short, short_hops = count(arguments.transport, SHORT, arguments.package)
    long, long_hops = count(arguments.transport, LONG, arguments.package)
    long.subtract(short)
    packets = (long_hops - short_hops) / LINKS
    files = entered(long, packets)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    console.print(table(files, packets))
    total = sum(long.values()) / packets / LINKS
    console.print(
        f"{total:.0f} instructions per packet-hop; {len(files)} files of at most {MOST_FILES}."
    )
    return int(len(files) > MOST_FILES)


def count(transport: str, sru: int, package: Path | None) -> tuple[Counts, float]:
    """Return how often a run executes each instruction in Rust, and the run's hops."""
    document = cases.of_transport(AMPLE, transport)
    document["workload"] |= {"servers": SERVERS, "sru": f"{sru}B"}
    written, hops = callgrind.profile(document, package=package, options=["--dump-instr=yes"])
    return read(written.splitlines()), hops


def read(lines: list[str]) -> Counts:
    """Read callgrind's output; return the executions by file and address."""
    names: dict[str, str] = {}
    counts: Counts = Counter()
    file, address, is_call = "", 0, False
    for line in lines:
        if position := POSITION.match(line):
            kind, number, name = position.groups()
            names.setdefault(number, name or "")
            if kind in ("fl", "fi", "fe"):
                file = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif cost := COST.match(line):
            place, times = cost.groups()
            if place[0] in "+-":
                address += int(place)
            elif place != "*":
                address = int(place, 16)
            _, found, path = file.partition("/crates/")
            is_ours = found or "/library/" in file
            # The cost of a call is counted in the callee.
            if is_ours and not is_call:
                counts[path or LIBRARY, address] += int(times)
            is_call = False
    return counts


def entered(counts: Counts, packets: float) -> dict[str, tuple[float, float]]:
    """Return the files that packets enter, with their numbers for the columns of `table`.

    The first number tells how often a packet executes the busiest instruction of the file. The
    second number is the file's instructions per hop.
    """
    totals: Counter[str] = Counter()
    busiest: Counter[str] = Counter()
    for (path, _), times in counts.items():
        totals[path] += times
        busiest[path] = max(busiest[path], times)
    return {
        path: (busiest[path] / packets, total / packets / LINKS)
        for path, total in totals.most_common()
        if path != LIBRARY and busiest[path] >= LEAST * packets
    }


def table(files: dict[str, tuple[float, float]], packets: float) -> Table:
    """Return the files as a table."""
    made = Table(title=f"Path of a packet and its ACK, mean of {packets:.0f} packets")
    made.add_column("file under crates/")
    made.add_column("times per packet", justify="right")
    made.add_column("instructions per hop", justify="right")
    for path, (times, instructions) in files.items():
        made.add_row(path, f"{times:.2f}", f"{instructions:.1f}")
    return made


if __name__ == "__main__":
    sys.exit(main())
