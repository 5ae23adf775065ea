"""Counts the source files that a data segment and its ACK enter, and the instructions in each.

python benches/walk.py [--transport NAME] [--package FOLDER]
python benches/walk.py --capture

Callgrind counts the instructions of a short and a long read in a star with ample buffer; the
difference belongs to the additional packets. A packet counts as entering a file if one of the
file's instructions, inlined or not, is executed at least once per two packets. The script needs
valgrind and a build with optimisation (`make .venv/release`).

With `--capture`, the instructions are those of `incast diagnose` that reads a capture of the same
reads at the client: the walk of a frame of data and the frame of its ACK from the file to the
report. The script then builds the example `speed` of `crates/diagnose`.

Exits with 1 if packets enter more files than the limit allows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table
from timing import callgrind, cases
from timing.cases import AMPLE

ROOT = Path(__file__).resolve().parent.parent
READER = ROOT / "target" / "release" / "examples" / "speed"
MOST_FILES = 22
MOST_FILES_OF_CAPTURE = 20
SNAPLEN = 96
ENHANCED_PACKET = 6
"""The kind of a pcapng block that has a frame."""
SERVERS = 4
SHORT, LONG = 1_000_000, 3_000_000
LINKS = 4
"""Number of links that a segment and its ACK cross, in total."""
FRAMES = 2
"""Number of frames of a segment and its ACK."""
LEAST = 0.5
LIBRARY = ""
"""Path of Rust's library: its instructions are counted, but its files are not listed."""

Counts = Counter[tuple[str, int]]


def main() -> int:
    """Count, and print the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transport", default="newreno")
    parser.add_argument("--package", type=Path, help="the folder of another build's package")
    parser.add_argument("--capture", action="store_true", help="count the walk of captured frames")
    arguments = parser.parse_args()
    if arguments.capture:
        return walk_of_capture()
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


def walk_of_capture() -> int:
    """Count the walk of a frame of data and the frame of its ACK, and print the files."""
    build = ["cargo", "build", "--release", "--quiet", "-p", "incast-diagnose"]
    subprocess.run([*build, "--example", "speed"], cwd=ROOT, check=True)
    counts = {}
    with TemporaryDirectory() as folder:
        for sru in (SHORT, LONG):
            capture = Path(folder) / f"{sru}.pcapng"
            capture_read(sru, capture)
            counts[sru] = count_reading(capture)
    (short, few), (long, many) = counts[SHORT], counts[LONG]
    long.subtract(short)
    # Every segment has an ACK of its own in this scenario, so two frames are one packet's.
    packets = (many - few) / FRAMES
    found = entered(long, packets, FRAMES)
    # An instruction that belongs to no line counts to the crate's first file, which has no code.
    # The example stands for the caller.
    left_out = ("src/lib.rs", "examples/speed.rs")
    files = {path: numbers for path, numbers in found.items() if not path.endswith(left_out)}
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    console.print(table(files, packets, "frame"))
    most = MOST_FILES_OF_CAPTURE
    console.print(
        f"{sum(long.values()) / packets / FRAMES:.0f} instructions per frame; "
        f"{len(files)} files of at most {most}."
    )
    return int(len(files) > most)


def capture_read(sru: int, capture: Path) -> None:
    """Write the capture of a read."""
    words = ["run", "storage-read", "--seeds", "1", "--snaplen", str(SNAPLEN)]
    keys = {"servers": SERVERS, "blocks": 1, "sru": f"{sru}B"}
    sets = [f"workload.{key}={value}" for key, value in keys.items()]
    options = [word for one in (*sets, "network.buffer=4000pkt") for word in ("--set", one)]
    command = [sys.executable, "-m", "incast", *words, "--pcap", str(capture), *options]
    subprocess.run([*command, "--format", "json"], check=True, stdout=subprocess.DEVNULL)


def count_reading(capture: Path) -> tuple[Counts, int]:
    """Return how often reading a capture executes each instruction in Rust, and the frames."""
    out = capture.with_suffix(".callgrind")
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-instr=yes"]
    subprocess.run([*tool, str(READER), str(capture)], check=True, capture_output=True)
    return read(out.read_text().splitlines()), frames_in(capture)


def frames_in(capture: Path) -> int:
    """Return the number of frames in a capture."""
    data, at, frames = capture.read_bytes(), 0, 0
    while at < len(data):
        kind, length = (int.from_bytes(data[at + 4 * it :][:4], "little") for it in range(2))
        frames += kind == ENHANCED_PACKET
        at += length
    return frames


def count(transport: str, sru: int, package: Path | None) -> tuple[Counts, float]:
    """Return how often a run executes each instruction in Rust, and the run's hops."""
    document = cases.of_transport(AMPLE, transport)
    document["workload"] |= {"servers": SERVERS, "sru": f"{sru}B"}
    written, hops = callgrind.profile(document, package=package, options=["--dump-instr=yes"])
    return read(written.splitlines()), hops


def read(lines: list[str]) -> Counts:
    """Read callgrind's output; return the executions by file and address."""
    counts: Counts = Counter()
    for cost in callgrind.lines(lines):
        _, found, path = cost.file.partition("/crates/")
        if found or "/library/" in cost.file:
            counts[path or LIBRARY, cost.address] += cost.times
    return counts


def entered(counts: Counts, packets: float, parts: int = LINKS) -> dict[str, tuple[float, float]]:
    """Return the files that packets enter, with their numbers for the columns of `table`.

    The first number tells how often a packet executes the busiest instruction of the file. The
    second number is the file's instructions per hop, or per frame: a packet has `parts` of them.
    """
    totals: Counter[str] = Counter()
    busiest: Counter[str] = Counter()
    for (path, _), times in counts.items():
        totals[path] += times
        busiest[path] = max(busiest[path], times)
    return {
        path: (busiest[path] / packets, total / packets / parts)
        for path, total in totals.most_common()
        if path != LIBRARY and busiest[path] >= LEAST * packets
    }


def table(files: dict[str, tuple[float, float]], packets: float, part: str = "hop") -> Table:
    """Return the files as a table."""
    made = Table(title=f"Path of a packet and its ACK, mean of {packets:.0f} packets")
    made.add_column("file under crates/")
    made.add_column("times per packet", justify="right")
    made.add_column(f"instructions per {part}", justify="right")
    for path, (times, instructions) in files.items():
        made.add_row(path, f"{times:.2f}", f"{instructions:.1f}")
    return made


if __name__ == "__main__":
    sys.exit(main())
