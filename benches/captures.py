"""How fast captures are read, beside tshark and a reading loop on dpkt, on full-size packets.

python benches/captures.py [--runs N]

Every program counts what it reads for each connection. Exits with 1 if incast reads less than
300 MB/s on one core. tshark and dpkt (`pip install dpkt`) are left out where they are missing.
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
LEAST = 300e6  # bytes per second
BLOCKS = 40
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
    """Make a capture, read it with each program, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    build = ["cargo", "build", "--release", "--quiet", "-p", "incast-diagnose"]
    subprocess.run([*build, "--example", "speed"], cwd=ROOT, check=True)
    reader = ROOT / "target" / "release" / "examples" / "speed"
    with TemporaryDirectory() as directory:
        capture = Path(directory) / "read.pcapng"
        _make(capture)
        size = capture.stat().st_size
        programs = {"incast": [str(reader), str(capture)]}
        if shutil.which("tshark"):
            programs["tshark -z conv,tcp"] = [
                "tshark", "-q", "-z", "conv,tcp", "-r", str(capture),
            ]  # fmt: skip
        if find_spec("dpkt"):
            programs["dpkt"] = [sys.executable, "-c", DPKT, str(capture)]
        table = Table(title=f"{size / 1e6:.0f} MB of full-size packets, best of {runs}")
        for head in ("program", "processor [s]", "MB/s"):
            table.add_column(head, justify="left" if head == "program" else "right")
        rates = {}
        for name, words in programs.items():
            spent = _measure(words, runs if name == "incast" else 1)
            rates[name] = size / spent
            table.add_row(name, f"{spent:.2f}", f"{rates[name] / 1e6:.0f}")
    Console(highlight=False).print(table)
    return int(rates["incast"] < LEAST)


def _make(path: Path) -> None:
    words = ["run", "storage-read", "--seeds", "1", "--snaplen", "1600", "--pcap", str(path)]
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
