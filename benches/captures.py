"""Measures how fast incast, tshark and a loop on dpkt read captures.

python benches/captures.py [--runs N]

One capture has full-size packets; the other has packets that are cut after 96 bytes, as with
`tcpdump -s 96`. Every program counts packets and bytes of each connection. Exits with 1 if incast
reads less than 2.5 GB/s of the full-size packets or 0.45 GB/s of the cut ones on one core, or if
incast needs more than 10 s or 1.5 GiB of memory for a capture of a million flows to one host.
tshark and dpkt (`pip install dpkt`) are left out if they are missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SHAPES = {"full-size packets": (1600, 2.5e9), "packets cut after 96 bytes": (96, 0.45e9)}
"""Per shape: the kept bytes of a packet, and the least reading speed in bytes per second."""
BLOCKS = 100
FLOWS, FLOWS_TIME, FLOWS_MEMORY = 1_000_000, 10.0, 1.5 * 2**30
"""Number of flows to one host, and the most time (s) and memory (bytes) to read their capture."""
READER = ROOT / "target" / "release" / "examples" / "speed"
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
    """Make both captures, read them with each program, and print a table for each capture."""
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
    return int(_many_flows() or missed)


def _many_flows() -> bool:
    """Read a capture of many flows, and return whether it takes too much time or memory."""
    table = Table(title="flows that begin together at one host")
    for head in ("flows", "processor [s]", "memory [MB]"):
        table.add_column(head, justify="right")
    with TemporaryDirectory() as directory:
        capture = Path(directory) / "flows.pcap"
        for flows in (FLOWS // 10, FLOWS):
            _make_flows(capture, flows)
            spent, memory = _measure([str(READER), str(capture)], 1)
            table.add_row(f"{flows}", f"{spent:.2f}", f"{memory / 1e6:.0f}")
    table.add_row("its bars", f"{FLOWS_TIME:.2f}", f"{FLOWS_MEMORY / 1e6:.0f}")
    Console(highlight=False).print(table)
    return spent > FLOWS_TIME or memory > FLOWS_MEMORY


def _make_flows(path: Path, flows: int) -> None:
    """Write a capture with two packets of each flow; all packets are within a second."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 54, 1))
        for number in range(2 * flows):
            part, host = divmod(number, flows)
            source = (0x0A000000 + 256 + host).to_bytes(4, "big")
            ip = struct.pack(
                "!BBHHHBBH", 0x45, 0, 1500, (7 * host + part) & 0xFFFF, 0x4000, 64, 6, 0
            )
            ports = (80, 1024 + host % 60000)
            tcp = struct.pack("!HHIIBBHHH", *ports, 1 + 1460 * part, 1, 0x50, 16, 65535, 0, 0)
            frame = bytes(12) + b"\x08\x00" + ip + source + bytes((10, 0, 0, 1)) + tcp
            time = number * 400_000 // flows
            file.write(struct.pack("<IIII", 1, time, len(frame), 1514) + frame)


def _compare(shape: str, capture: Path, least: float, runs: int) -> bool:
    """Print a table of the programs, and return whether incast reads too slowly."""
    size = capture.stat().st_size
    table = Table(title=f"{size / 1e6:.0f} MB of {shape}")
    for head in ("program", "processor [s]", "MB/s"):
        table.add_column(head, justify="left" if head == "program" else "right")
    missed = False
    for name, words in _programs(capture).items():
        spent, _ = _measure(words, runs if name == "incast" else 1)
        table.add_row(name, f"{spent:.2f}", f"{size / spent / 1e6:.0f}")
        if name == "incast":
            missed = size / spent < least
            table.add_row("  its bar", f"{size / least:.2f}", f"{least / 1e6:.0f}")
    Console(highlight=False).print(table)
    return missed


def _programs(capture: Path) -> dict[str, list[str]]:
    programs = {"incast": [str(READER), str(capture)]}
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


def _measure(words: list[str], runs: int) -> tuple[float, float]:
    """Return the least processor time, and the memory of the last run in bytes."""
    best, memory = float("inf"), 0
    for _ in range(runs):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{words[0]} failed")
        best, memory = min(best, used.ru_utime + used.ru_stime), 1024 * used.ru_maxrss
    return best, memory


if __name__ == "__main__":
    sys.exit(main())
