"""Packet-hops per second and peak memory of the standard workloads, with ns-2 if installed.

Both sides count the event loop only; the time of the whole process is printed too.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from rich.table import Table

from timing import cases
from timing.cases import AMPLE, COLLAPSE, Workload
from timing.clock import REPEATS, Timing, alone, fastest

NS2 = Path(__file__).with_name("ns2_star.tcl")
BARS = {AMPLE: 8.0, COLLAPSE: 5.0}  # times as fast as ns-2


def table() -> tuple[Table, bool]:
    """Return the table, and whether every bar is met."""
    with_ns2 = shutil.which("ns") is not None
    table = Table("workload", "packet-hops", "M hops/s", "whole process", "peak", "ns-2", "ratio")
    holds = True
    for workload, bar in BARS.items():
        document = cases.beside_ns2(workload)
        ours, theirs = [], []
        for _ in range(REPEATS):
            ours.append(alone(document))
            if with_ns2:
                theirs.append(_ns2(workload))
        beside, ratio = "not installed", ""
        if with_ns2:
            factor = fastest(ours).speed / fastest(theirs).speed
            holds &= factor >= bar
            beside = f"{fastest(theirs).speed / 1e6:.2f} M/s, {fastest(theirs).process_s:.2f} s"
            ratio = f"{factor:.1f} (bar {bar:g})"
        table.add_row(workload.name, *_figures(ours), beside, ratio)
    table.add_row("10 000 servers × 64 KiB, 100 Gbps", *_figures([alone(cases.cluster())]), "", "")
    return table, holds


def _figures(runs: list[Timing]) -> list[str]:
    best = fastest(runs)
    return [
        f"{best.hops:,.0f}",
        f"{best.speed / 1e6:.1f}",
        f"{min(run.process_s for run in runs):.2f} s",
        f"{max(run.peak_kib for run in runs) / 1024:.0f} MiB",
    ]


def _ns2(workload: Workload) -> Timing:
    command = ["ns", NS2, cases.SENDERS, cases.BYTES, workload.buffer, workload.window]
    started = time.perf_counter()
    done = subprocess.run(map(str, command), check=True, capture_output=True, text=True)
    hops, loop_s = map(float, done.stdout.split())
    return Timing(hops, loop_s, process_s=time.perf_counter() - started)
