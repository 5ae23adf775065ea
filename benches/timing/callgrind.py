"""Counts of instructions by valgrind, which do not depend on other work of the machine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

SCRIPT = Path(__file__).with_name("repeat.py")
POSITION = re.compile(r"(fl|fi|fe|cfi|cfl|ob|cob)=\((\d+)\)(?: (.*))?$")
COST = re.compile(r"(0x[0-9a-f]+|[+-]\d+|\*) (\d+|[+-]\d+|\*) (\d+)$")
QUEUE = "/crates/engine/src/event_queue/mod.rs"
RINGS = re.compile(r"/library/alloc/src/(collections/vec_deque|raw_vec)\b")
LIBC = re.compile(r"/(?:libc|ld-linux|libm|libpthread)[-.][^/]*$")

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """How often an instruction was executed.

    Parameters
    ----------
    object
        The program or library that has the instruction.
    file
        The source file in which the instruction was written, even if it was inlined elsewhere.
    line
        Its line in this file.
    address
        Its address.
    times
        The number of executions.
    """

    object: str
    file: str
    line: int
    address: int
    times: int


@dataclass(frozen=True)
class Spent:
    """What one run of a scenario executes, without Python's start and the set-up.

    Parameters
    ----------
    hops
        Packet-hops of the run.
    instructions
        Instructions of the run.
    parts
        Instructions of each crate, of Rust's library, and of the C library.
    events
        Events that the run took from the event queue; None if the queue was not found.
    """

    hops: float
    instructions: float
    parts: dict[str, float]
    events: float | None


def profile(
    document: dict[str, Any],
    repeats: int = 1,
    package: Path | None = None,
    options: Sequence[str] = (),
) -> tuple[str, float]:
    """Run a scenario under callgrind in a separate process.

    Parameters
    ----------
    document
        The scenario.
    repeats
        Number of runs of the scenario.
    package
        The folder of another build's `incast`; None for the installed package.
    options
        Further options of callgrind.

    Returns
    -------
    tuple[str, float]
        The output of callgrind, and the packet-hops of one run.
    """
    with tempfile.NamedTemporaryFile() as out:
        tool = ["--tool=callgrind", f"--callgrind-out-file={out.name}", *options]
        hops = _under(tool, document, repeats, package)
        return Path(out.name).read_text(), hops


def lines(written: Iterable[str]) -> Iterator[Cost]:
    """Read callgrind's output of `--dump-instr=yes`; the cost of a call is left to the callee."""
    files: dict[str, str] = {}
    objects: dict[str, str] = {}
    where, file, address, line, is_call = "", "", 0, 0, False
    for text in written:
        if position := POSITION.match(text):
            kind, number, name = position.groups()
            names = objects if kind.endswith("ob") else files
            names.setdefault(number, name or "")
            if kind in ("fl", "fi", "fe"):
                file = names[number]
            elif kind == "ob":
                where = names[number]
        elif text.startswith("calls="):
            is_call = True
        elif cost := COST.match(text):
            place, row, times = cost.groups()
            address, line = _moved(address, place), _moved(line, row)
            if not is_call:
                yield Cost(where, file, line, address, int(times))
            is_call = False


def part(cost: Cost) -> str:
    """Return the part of the engine to which an instruction belongs."""
    if found := re.search(r"/registry/src/[^/]+/([^/]+)-\d[^/]*/", cost.file):
        return found[1]
    if found := re.search(r"/crates/([^/]+)/", cost.file):
        return found[1]
    if "/library/" in cost.file:
        return "Rust's rings" if RINGS.search(cost.file) else "Rust's other code"
    return "C library" if LIBC.search(cost.object) else ""


def spent(document: dict[str, Any]) -> Spent:
    """Return what a run of a scenario executes; a scenario is counted once."""
    return _spent(json.dumps(document))


def instructions(document: dict[str, Any]) -> float:
    """Return the instructions per packet-hop of a scenario, without Python's start and set-up."""
    found = spent(document)
    return found.instructions / found.hops


def events(document: dict[str, Any]) -> float | None:
    """Return the events of a run of a scenario; None if they cannot be counted."""
    if shutil.which("valgrind") is None:
        return None
    written, _ = profile(document, options=["--dump-instr=yes"])
    return summed(lines(written.splitlines()))[1] or None


def warm(document: dict[str, Any]) -> float:
    """Return the instructions of the first run of a large scenario.

    The process has run a small scenario before. Cachegrind counts the instructions, without their
    places, in less time than callgrind.
    """
    counts = []
    for repeats in (0, 1):
        with tempfile.NamedTemporaryFile() as out:
            tool = ["--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={out.name}"]
            _under(tool, document, repeats, None)
            counts.append(float(Path(out.name).read_text().rpartition("summary:")[2]))
    return counts[1] - counts[0]


def all_at_once(count: Callable[[dict[str, Any]], T], documents: list[dict[str, Any]]) -> list[T]:
    """Count several scenarios, one per processor: counts do not depend on the load."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(count, documents))


@cache
def _spent(text: str) -> Spent:
    document = json.loads(text)
    totals, parts, events = {}, {}, {}
    for repeats in (1, 3):
        written, hops = profile(document, repeats, options=["--dump-instr=yes"])
        rows = written.splitlines()
        total = next(row for row in rows if row.startswith("totals:"))
        totals[repeats] = float(total.split()[1])
        parts[repeats], events[repeats] = summed(lines(rows))
    per_run = {name: (times - parts[1][name]) / 2 for name, times in parts[3].items() if name}
    taken = (events[3] - events[1]) / 2 if events[3] else None
    return Spent(hops, (totals[3] - totals[1]) / 2, per_run, taken)


def summed(costs: Iterable[Cost]) -> tuple[Counter[str], int]:
    """Return the instructions of each part, and the events taken from the event queue.

    The number of events is the number of executions of the busiest instruction of the function
    `pop` of the event queue.
    """
    parts: Counter[str] = Counter()
    popped: Counter[int] = Counter()
    for cost in costs:
        parts[part(cost)] += cost.times
        if cost.file.endswith(QUEUE) and cost.line in _lines_of_pop(cost.file):
            popped[cost.address] += cost.times
    return parts, max(popped.values(), default=0)


@cache
def _lines_of_pop(file: str) -> range:
    path = Path(file)
    rows = path.read_text().splitlines() if path.is_file() else []
    for first, row in enumerate(rows):
        if row.startswith("    pub fn pop("):
            return range(first + 1, rows.index("    }", first) + 2)
    return range(0)


def _under(tool: list[str], document: dict[str, Any], repeats: int, package: Path | None) -> float:
    """Run a scenario under a tool of valgrind; return the packet-hops of one run."""
    paths = [str(package)] if package else []
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        ["valgrind", *tool, sys.executable, str(SCRIPT), json.dumps(document), str(repeats)],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return float(result.stdout)


def _moved(before: int, place: str) -> int:
    if place[0] in "+-":
        return before + int(place)
    return before if place == "*" else int(place, 0)
