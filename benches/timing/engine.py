"""Time per packet-hop of the engine's cases, compared with the probe's time in the same batch."""

from __future__ import annotations

from timing import probe
from timing.cases import ENGINE
from timing.clock import REPEATS, Timing, Worker, least_work
from timing.sheet import Sheet


def sheet(*, guided: bool) -> Sheet:
    """Return the table.

    Parameters
    ----------
    guided
        Whether this is a build of `make pgo`, whose bars are higher.
    """
    made = Sheet(
        "Time per packet-hop",
        ["case", "ns", "probe ÷ ours", "bar", "packet-hops", "goodput, Mbit/s", "timeouts"],
        "The time is the processor time of a run from the scenario to its row, the shortest of "
        f"{REPEATS} runs. The probe (`benches/probe`: a star with fixed windows and no TCP) runs "
        "between these runs. The transport is NewReno unless stated otherwise.",
    )
    worker = Worker()
    for case in ENGINE:
        ours: list[Timing] = []
        floor = probe.nanoseconds()
        for _ in range(REPEATS):
            ours.append(worker.run(case.document))
            floor = min(floor, probe.nanoseconds())
        nanoseconds, first = least_work(ours), ours[0]
        share = floor / nanoseconds
        bar = case.guided if guided and case.guided else case.plain
        if share < bar:
            made.missed.append(f"{case.letter}, {share:.2f} of {bar:.2f}")
        made.add(
            f"{case.letter}, {case.name}",
            f"{nanoseconds:.1f}",
            f"{share:.2f}",
            f"{bar:.2f}",
            f"{first.hops:,.0f}",
            f"{first.goodput / 1e6:,.1f}",
            f"{first.timeouts:,}",
        )
    worker.close()
    return made
