"""NewReno of this build compared with NewReno of another build."""

from __future__ import annotations

from pathlib import Path

from timing import cases
from timing.cases import AMPLE, COLLAPSE
from timing.clock import Timing, Worker, least_work
from timing.sheet import Sheet

BAR = 1.03  # this build may take this many times as long as the other
REPEATS = 21  # more than in other tables, because `BAR` allows only a small difference


def sheet(package: Path) -> Sheet:
    """Return the table.

    Parameters
    ----------
    package
        The folder that holds the other build's `incast`.
    """
    made = Sheet("Two builds", ["NewReno", "before: ns/hop", "now: ns/hop", "ratio", "packet-hops"])
    workers = [Worker(package), Worker()]
    documents = {
        f"{profile}, {workload.name}": {
            **cases.beside_ns2(workload),
            "profile": profile,
        }
        for profile in ("ns2", "lab")
        for workload in (AMPLE, COLLAPSE)
    }
    sums = [0.0, 0.0]
    for name, document in documents.items():
        sides: list[list[Timing]] = [[], []]
        for turn in range(REPEATS):
            # The builds alternate, because a run changes the machine's state for the next run.
            for side in (0, 1) if turn % 2 else (1, 0):
                sides[side].append(workers[side].run(document))
        before, now = map(least_work, sides)
        sums = [sums[0] + before, sums[1] + now]
        hops = [runs[0].hops for runs in sides]
        same = "the same" if hops[0] == hops[1] else f"{hops[0]:,.0f}, {hops[1]:,.0f}"
        made.add(name, *_cells(before, now), same)
    for worker in workers:
        worker.close()
    made.add("together", *_cells(*sums), f"(bar {BAR:g})")
    if sums[1] / sums[0] > BAR:
        made.missed.append(f"together {sums[1] / sums[0]:.3f} of {BAR:g}")
    return made


def _cells(before: float, now: float) -> list[str]:
    return [f"{before:.1f}", f"{now:.1f}", f"{now / before:.3f}"]
