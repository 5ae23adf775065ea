"""Packet-hops per second and peak memory of the standard workloads, with ns-2 if installed."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from timing import bars, cases, packages
from timing.cases import AMPLE, COLLAPSE, Workload
from timing.clock import REPEATS, Timing, alone, fastest
from timing.packages import Build
from timing.sheet import Sheet

NS2 = Path(__file__).with_name("ns2_star.tcl")


def sheet(builds: list[Build]) -> Sheet:
    """Return the table, and keep the ratios.

    Parameters
    ----------
    builds
        The builds to compare.
    """
    builds = [build for build in builds if build.name != packages.DEMO]
    headings = ["workload", "packet-hops", "ns-2", "ns-2, whole process"]
    for build in builds:
        headings += [f"{build.name}: M hops/s", "whole process", "peak", "ratio", "bar"]
    made = Sheet(
        "Beside ns-2",
        headings,
        f"incast and ns-2 run alternately, in the profile `ns2`; the fastest of {REPEATS} runs. "
        "The speeds are by processor time: ours from the scenario to the row, that of ns-2 in its "
        "event loop. The peak is the memory of the process, with Python.",
    )
    ratios: dict[str, dict[str, float]] = {build.name: {} for build in builds}
    for workload in (AMPLE, COLLAPSE):
        ours, theirs = _interleaved(builds, workload)
        cells = [f"{ours[builds[0].name][0].hops:,.0f}", "not installed", ""]
        best = fastest(theirs) if theirs else None
        if best:
            cells[1:] = [f"{best.speed / 1e6:.2f} M/s", f"{best.process_s:.2f} s"]
        for name, runs in ours.items():
            cells += _figures(runs)
            bar = bars.NS2[workload.name].of(guided=name == packages.GUIDED).now
            if best is None:
                cells += ["", ""]
                continue
            ratio = fastest(runs).speed / best.speed
            ratios[name][workload.name] = round(ratio, 1)
            cells += [f"{ratio:.1f}", f"{bar:g}"]
            if round(ratio, 1) < bar:
                made.missed.append(f"{workload.name} ({name}), {ratio:.1f} of {bar:g}")
        made.add(workload.name, *cells)
    cluster = {build.name: [alone(cases.cluster(), build.package)] for build in builds}
    cells = [f"{cluster[builds[0].name][0].hops:,.0f}", "", ""]
    for runs in cluster.values():
        cells += [*_figures(runs), "", ""]
    made.add("10 000 servers × 64 KiB at once, 100 Gbps", *cells)
    if ratios[packages.PLAIN]:
        made.kept = {"ns2": ratios}
    return made


def _interleaved(
    builds: list[Build], workload: Workload
) -> tuple[dict[str, list[Timing]], list[Timing]]:
    """Run each build and ns-2 in turn."""
    ours: dict[str, list[Timing]] = {build.name: [] for build in builds}
    theirs = []
    for _ in range(REPEATS):
        for build in builds:
            ours[build.name].append(alone(cases.beside_ns2(workload), build.package))
        if shutil.which("ns") is not None:
            theirs.append(_ns2(workload))
    return ours, theirs


def _figures(runs: list[Timing]) -> list[str]:
    best = fastest(runs)
    return [
        f"{best.speed / 1e6:.1f}",
        f"{min(run.process_s for run in runs):.2f} s",
        f"{max(run.peak_kib for run in runs) / 1024:.0f} MiB",
    ]


def _ns2(workload: Workload) -> Timing:
    command = ["ns", NS2, cases.SENDERS, cases.BYTES, workload.buffer, workload.window]
    started = time.perf_counter()
    done = subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
    hops, work_s = map(float, done.stdout.split())
    return Timing(hops, work_s, process_s=time.perf_counter() - started)
