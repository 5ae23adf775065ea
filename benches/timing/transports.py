"""Cost of a packet-hop over each transport, relative to NewReno."""

from __future__ import annotations

import json

from rich.table import Table

from timing import cases
from timing.cases import AMPLE, COLLAPSE, Workload
from timing.clock import REPEATS, Timing, Worker, least_work

BASE = "newreno"
# Times as long as NewReno; in collapse SACK alone has a bar, because the others do not collapse in
# the same way.
BARS: dict[Workload, dict[str, float]] = {AMPLE: {}, COLLAPSE: {"sack": 2.0}}
AMPLE_BAR = 1.5


def names() -> list[str]:
    """Return the transports that a scenario can name, except NewReno and the remedies."""
    from incast import _core

    names = [entry["name"] for entry in json.loads(_core.entries("transports"))]
    left_out = {BASE} | {entry["name"] for entry in json.loads(_core.entries("remedies"))}
    return [name for name in names if name not in left_out]


def table() -> tuple[Table, bool]:
    """Return the table, and whether every bar is met."""
    headings = ["transport"]
    for workload in BARS:
        headings += [f"{workload.name}: ns/hop", f"{BASE} beside it", "ratio"]
    table = Table(*headings)
    holds = True
    worker = Worker()
    for name in names():
        cells = [name]
        for workload, bars in BARS.items():
            ours, base = _alternate(worker, workload, name)
            ratio = ours / base
            bar = AMPLE_BAR if workload is AMPLE else bars.get(name)
            holds &= bar is None or ratio <= bar
            verdict = "" if bar is None else f" (bar {bar:g})"
            cells += [f"{ours:.1f}", f"{base:.1f}", f"{ratio:.2f}{verdict}"]
        table.add_row(*cells)
    worker.close()
    return table, holds


def _alternate(worker: Worker, workload: Workload, name: str) -> tuple[float, float]:
    """Return the nanoseconds per packet-hop over the transport and over NewReno."""
    runs: dict[str, list[Timing]] = {name: [], BASE: []}
    for _ in range(REPEATS):
        for side, timings in runs.items():
            timings.append(worker.run(cases.of_transport(workload, side)))
    return least_work(runs[name]), least_work(runs[BASE])
