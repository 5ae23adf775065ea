"""Packet-hops per second and peak memory of the standard workloads, with ns-2 if installed."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from timing import cases
from timing.cases import AMPLE, COLLAPSE, Workload
from timing.clock import REPEATS, Timing, alone, fastest
from timing.sheet import Sheet

NS2 = Path(__file__).with_name("ns2_star.tcl")
BARS = {AMPLE: (12.0, 15.0), COLLAPSE: (7.0, 8.5)}
"""Least ratio of the speed to that of ns-2, for a usual build and for a build of `make pgo`."""


def sheet(*, guided: bool) -> Sheet:
    """Return the table.

    Parameters
    ----------
    guided
        Whether this is a build of `make pgo`, whose bars are higher.
    """
    with_ns2 = shutil.which("ns") is not None
    headings = ["workload", "packet-hops", "M hops/s", "whole process", "peak"]
    made = Sheet(
        "Beside ns-2",
        [*headings, "ns-2", "ns-2, whole process", "ratio", "bar"],
        "incast and ns-2 run alternately, in the profile `ns2`; only their event loops are timed. "
        "The peak is the memory of the process, with Python.",
    )
    for workload, bars in BARS.items():
        document = cases.beside_ns2(workload)
        ours, theirs = [], []
        for _ in range(REPEATS):
            ours.append(alone(document))
            if with_ns2:
                theirs.append(_ns2(workload))
        beside = ["not installed", "", "", ""]
        if with_ns2:
            best, bar = fastest(theirs), bars[guided]
            factor = fastest(ours).speed / best.speed
            if factor < bar:
                made.missed.append(f"{workload.name}, {factor:.1f} of {bar:g}")
            beside = [f"{best.speed / 1e6:.2f} M/s", f"{best.process_s:.2f} s"]
            beside += [f"{factor:.1f}", f"{bar:g}"]
        made.add(workload.name, *_figures(ours), *beside)
    made.add(
        "10 000 servers × 64 KiB at once, 100 Gbps", *_figures([alone(cases.cluster())]), *[""] * 4
    )
    return made


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
