"""Time of a packet-hop with each transport, relative to the time of an earlier NewReno."""

from __future__ import annotations

import json

from timing import bars, cases, probe
from timing.cases import AMPLE, COLLAPSE, Workload
from timing.clock import REPEATS, Worker, least_work
from timing.sheet import Sheet

BEFORE = 1 / 0.36
"""Time of NewReno per hop before header prediction, as a multiple of the probe's."""


def names(*, of_tcp: bool = True) -> list[str]:
    """Return the transports of TCP that a scenario can name, except the remedies; or the others."""
    from incast import _core

    remedies = {entry["name"] for entry in json.loads(_core.entries("remedies"))}
    return [
        entry["name"]
        for entry in json.loads(_core.entries("transports"))
        if entry["name"] not in remedies and (entry["family"] == "tcp") == of_tcp
    ]


def sheet() -> Sheet:
    """Return the table, and keep the least and the largest speed."""
    made = Sheet(
        "Transports",
        ["transport", "ample buffer: ns", "ratio", "bar", "collapse: ns", "ratio"],
        "The ratio is the time of the transport divided by the time that NewReno took, with ample "
        "buffer, before header prediction was introduced: "
        f"{BEFORE:.2f} times the time of the probe.",
    )
    worker = Worker()
    speeds: list[float] = []
    for name in names():
        cells = [name]
        for workload in (AMPLE, COLLAPSE):
            ours, ratio = _measure(worker, workload, name)
            cells += [f"{ours:.1f}", f"{ratio:.2f}"]
            if workload is AMPLE:
                speeds.append(1e9 / ours)
                bar = bars.TRANSPORTS.get(name, bars.TRANSPORT).now
                cells.append(f"{bar:g}")
                if ratio > bar:
                    made.missed.append(f"{name}, {ratio:.2f} of {bar:g}")
        made.add(*cells)
    worker.close()
    made.kept = {"hops_per_second_of_transports": [round(min(speeds)), round(max(speeds))]}
    return made


def _measure(worker: Worker, workload: Workload, name: str) -> tuple[float, float]:
    """Return the nanoseconds per packet-hop, and their ratio to those of the earlier NewReno."""
    runs, floor = [], probe.nanoseconds()
    for _ in range(REPEATS):
        runs.append(worker.run(cases.of_transport(workload, name)))
        floor = min(floor, probe.nanoseconds())
    ours = least_work(runs)
    return ours, ours / (floor * BEFORE)
