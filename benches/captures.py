"""How fast captures are read, beside tshark and a reading loop on dpkt.

python benches/captures.py [--runs N]

The packets are full-size, and once more cut after 96 bytes as `tcpdump -s 96` does. Every program
counts what it reads for each connection. Exits with 1 if incast reads less than 2.5 GB/s of the
first or 0.45 GB/s of the second on one core. tshark and dpkt (`pip install dpkt`) are left out
where they are missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SHAPES = {"full-size packets": (1600, 2.5e9), "packets cut after 96 bytes": (96, 0.45e9)}
"""Bytes that are kept of a packet, and how many bytes of the file are to be read per second."""
BLOCKS = 100
DPKT = """
import sys, dpkt
seen = {}
with open(sys.argv[1], "rb") as file:
    for _, frame in dpkt.pcapng.Reader(file):
        ip = dpkt.ethernet.Ethernet(frame).data
        tcp = ip.data
        if isinstance(tcp, dpkt.tcp.TCP):
            key = (ip.src, tcp.sport, ip.dst, tcp.dport)
            last, count, again = seen.get(key, (0, 0, 0))
            again += bool(tcp.data) and (tcp.seq - last) & 0xFFFFFFFF > 1 << 31
            seen[key] = (tcp.seq, count + len(tcp.data), again)
print(len(seen))
"""


def main() -> int:
    """Make both captures, read them with each program, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    build = ["cargo", "build", "--release", "--quiet", "-p", "incast-diagnose"]
    subprocess.run([*build, "--example", "speed"], cwd=ROOT, check=True)
    missed = False
    for shape, (snaplen, least) in SHAPES.items():
        with TemporaryDirectory() as directory:
            capture = Path(directory) / "read.pcapng"
            _make(capture, snaplen)
            missed |= _compare(shape, capture, least, runs)
    return int(missed)


def _compare(shape: str, capture: Path, least: float, runs: int) -> bool:
    """Print a table of the programs, and return whether incast misses its bar."""
    size = capture.stat().st_size
    table = Table(title=f"{size / 1e6:.0f} MB of {shape}")
    for head in ("program", "processor [s]", "MB/s"):
        table.add_column(head, justify="left" if head == "program" else "right")
    missed = False
    for name, words in _programs(capture).items():
        spent = _measure(words, runs if name == "incast" else 1)
        table.add_row(name, f"{spent:.2f}", f"{size / spent / 1e6:.0f}")
        if name == "incast":
            missed = size / spent < least
            table.add_row("  its bar", f"{size / least:.2f}", f"{least / 1e6:.0f}")
    Console(highlight=False).print(table)
    return missed


def _programs(capture: Path) -> dict[str, list[str]]:
    reader = ROOT / "target" / "release" / "examples" / "speed"
    programs = {"incast": [str(reader), str(capture)]}
    if tshark := shutil.which("tshark"):
        programs["tshark -z conv,tcp"] = [tshark, "-q", "-z", "conv,tcp", "-r", str(capture)]
    if find_spec("dpkt"):
        programs["dpkt"] = [sys.executable, "-c", DPKT, str(capture)]
    return programs


def _make(path: Path, snaplen: int) -> None:
    words = ["run", "storage-read", "--seeds", "1", "--snaplen", str(snaplen), "--pcap", str(path)]
    sets = ["--set", "workload.servers=24", "--set", f"workload.blocks={BLOCKS}"]
    command = [sys.executable, "-m", "incast", *words, *sets, "--format", "json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _measure(words: list[str], runs: int) -> float:
    """Return the least processor time."""
    best = float("inf")
    for _ in range(runs):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{words[0]} failed")
        best = min(best, used.ru_utime + used.ru_stime)
    return best


if __name__ == "__main__":
    sys.exit(main())
