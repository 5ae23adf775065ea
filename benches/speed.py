"""Packet-hops per second and peak memory of the standard workloads, beside ns-2 if installed.

Both sides count the event loop only; the time of the whole process is printed beside. Runs
alternate between the two, and medians are compared, because machines drift.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

REPEATS = 5
SENDERS = 32
BYTES = 10_000_000
NS2 = Path(__file__).resolve().parent / "ns2_star.tcl"


@dataclass(frozen=True)
class Workload:
    """One transfer from each of 32 servers through a port, and the ratio to ns-2 asked for."""

    name: str
    buffer: int
    window: int
    bar: float


WORKLOADS = (
    Workload("ample buffer", buffer=4000, window=100, bar=8.0),
    Workload("32-packet buffer, in collapse", buffer=32, window=1000, bar=5.0),
)


def scenario(servers: int, sru: int, **network: str) -> dict[str, Any]:
    """Return a one-shot read in ns-2's configuration."""
    return {
        "profile": "ns2",
        "network": {"rate": "1Gbps", "delay": "25us", **network},
        "workload": {
            "name": "barrier-read",
            "servers": servers,
            "sru": f"{sru}B",
            "request_jitter": "20us",
        },
        "transport": {"mss": 1460, "initial_window": 10},
    }


def measure(document: dict[str, Any]) -> dict[str, float]:
    """Run one scenario in a process of its own, which is asked for its peak memory."""
    command = [sys.executable, __file__, "--one", json.dumps(document)]
    started = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {**json.loads(output), "process_s": time.perf_counter() - started}


def run_one(document: str) -> None:
    """Print the figures of one run."""
    from incast import _core

    plan = json.loads(_core.plan(document))
    row = _core.run(json.dumps(plan["points"][0]["resolved"]), 1)["rows"][0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"hops": row["packet_hops"], "loop_s": row["wall_s"], "peak_kib": peak}))


def measure_ns2(workload: Workload) -> dict[str, float]:
    """Run the workload in ns-2."""
    command = ["ns", str(NS2), str(SENDERS), str(BYTES), str(workload.buffer), str(workload.window)]
    started = time.perf_counter()
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    hops, loop_s = output.split()
    return {
        "hops": float(hops),
        "loop_s": float(loop_s),
        "process_s": time.perf_counter() - started,
    }


def speed(runs: list[dict[str, float]]) -> float:
    """Return the median packet-hops per second of the event loop."""
    return statistics.median(run["hops"] / run["loop_s"] for run in runs)


def main() -> int:
    """Run the benchmark."""
    console = Console(highlight=False)
    with_ns2 = shutil.which("ns") is not None
    table = Table("workload", "packet-hops", "M hops/s", "whole process", "peak", "ns-2", "ratio")
    missed = False
    for workload in WORKLOADS:
        document = scenario(SENDERS, BYTES, buffer=f"{workload.buffer}pkt")
        document["transport"]["receive_window"] = workload.window
        ours, theirs = [], []
        for _ in range(REPEATS):
            ours.append(measure(document))
            if with_ns2:
                theirs.append(measure_ns2(workload))
        beside, ratio = "not installed", ""
        if with_ns2:
            factor = speed(ours) / speed(theirs)
            missed |= factor < workload.bar
            process = statistics.median(run["process_s"] for run in theirs)
            beside = f"{speed(theirs) / 1e6:.2f} M/s, {process:.2f} s"
            ratio = f"{factor:.1f} (bar {workload.bar:g})"
        table.add_row(
            workload.name,
            f"{ours[0]['hops']:,.0f}",
            f"{speed(ours) / 1e6:.1f}",
            f"{statistics.median(run['process_s'] for run in ours):.2f} s",
            f"{max(run['peak_kib'] for run in ours) / 1024:.0f} MiB",
            beside,
            ratio,
        )
    cluster = scenario(10_000, 65_536, rate="100Gbps", delay="1us", buffer="4MiB")
    cluster["profile"] = "lab"
    figures = measure(cluster)
    table.add_row(
        "10 000 servers × 64 KiB, 100 Gbps",
        f"{figures['hops']:,.0f}",
        f"{figures['hops'] / figures['loop_s'] / 1e6:.1f}",
        f"{figures['process_s']:.2f} s",
        f"{figures['peak_kib'] / 1024:.0f} MiB",
        "",
        "",
    )
    console.print(table)
    console.print("M hops/s: the event loop of one core. Peak: the process, Python included.")
    return int(missed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_one(sys.argv[2])
    else:
        sys.exit(main())
