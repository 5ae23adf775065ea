"""Time per packet-hop of the engine's cases, compared with the probes' times in the same batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

from timing import bars, packages, probe
from timing.cases import ENGINE, Case
from timing.clock import REPEATS, Timing, Worker, least_work
from timing.packages import Build
from timing.sheet import Sheet


@dataclass(frozen=True)
class Batch:
    """One case, run by each build and by the probes in turn.

    Parameters
    ----------
    case
        The case.
    runs
        The runs of each build.
    probe, fused
        Least nanoseconds per packet-hop of the two probes.
    """

    case: Case
    runs: dict[str, list[Timing]]
    probe: float
    fused: float

    def nanoseconds(self, name: str) -> float:
        """Return the least time per packet-hop of a build."""
        return least_work(self.runs[name])


def measure(builds: list[Build]) -> list[Batch]:
    """Run every case."""
    workers = {build.name: Worker(build.package) for build in builds}
    made = []
    for case in ENGINE:
        runs: dict[str, list[Timing]] = {name: [] for name in workers}
        floors = [probe.nanoseconds()], [probe.nanoseconds("fused")]
        for turn in range(REPEATS):
            # A run changes the machine's state for the next run, so the builds change places.
            for name in [*workers][:: 1 if turn % 2 else -1]:
                runs[name].append(workers[name].run(case.document))
            floors[0].append(probe.nanoseconds())
            floors[1].append(probe.nanoseconds("fused"))
        made.append(Batch(case, runs, min(floors[0]), min(floors[1])))
    for worker in workers.values():
        worker.close()
    return made


def sheet(batches: list[Batch]) -> Sheet:
    """Return the table of the builds that have bars."""
    names = [name for name in batches[0].runs if name != packages.DEMO]
    headings = ["case"]
    for name in names:
        headings += [f"{name}: ns", "probe ÷ ours", "bar", "ours ÷ floor"]
    made = Sheet(
        "Time per packet-hop",
        [*headings, "packet-hops", "goodput, Mbit/s", "timeouts"],
        "The time is the processor time of a run from the scenario to its row, the shortest of "
        f"{REPEATS} runs. Between the runs of the builds, two probes of `benches/probe` run. The "
        "*probe* is a star with fixed windows and without TCP; it took "
        f"{min(batch.probe for batch in batches):.1f} ns. The *floor* simulates the same star, "
        "but with one event for a packet and its ACK instead of four; it took "
        f"{min(batch.fused for batch in batches):.1f} ns. Nothing that simulates each packet of a "
        "star can be much faster. The transport is NewReno unless stated otherwise.",
    )
    for batch in batches:
        cells = []
        for name in names:
            time = batch.nanoseconds(name)
            share = batch.probe / time
            bar = bars.CASES[batch.case.letter].of(guided=name == packages.GUIDED).now
            if round(share, 2) < bar:
                made.missed.append(f"{batch.case.letter} ({name}), {share:.2f} of {bar:.2f}")
            cells += [f"{time:.1f}", f"{share:.2f}", f"{bar:.2f}", f"{time / batch.fused:.1f}"]
        first = batch.runs[names[0]][0]
        simulated = [f"{first.hops:,.0f}", f"{first.goodput / 1e6:,.1f}", f"{first.timeouts:,}"]
        made.add(f"{batch.case.letter}, {batch.case.name}", *cells, *simulated)
    return made


def compared(batches: list[Batch], builds: list[Build]) -> Sheet:
    """Return the table of all builds, and keep their times for README and `make demo`."""
    made = Sheet(
        "Builds",
        ["build", "compiled by", "extension, MB", "time", "most", "least"],
        "The time is the geometric mean over the cases above, as a multiple of the time of the "
        f"usual build, `{packages.PLAIN}`; the last columns are the cases with the most and the "
        f"least time. Wheels are made of `{packages.GUIDED}`.",
    )
    times = {}
    for build in builds:
        found = {
            batch.case.letter: batch.nanoseconds(build.name) / batch.nanoseconds(packages.PLAIN)
            for batch in batches
        }
        times[build.name] = exp(sum(map(log, found.values())) / len(found))
        ends = [max(found, key=found.__getitem__), min(found, key=found.__getitem__)]
        if build.name == packages.PLAIN:
            ends = []
        made.add(
            f"`{build.name}`",
            f"`{build.command}`",
            f"{build.size() / 1e6:.1f}",
            f"{times[build.name]:.2f}",
            *([f"{letter}, {found[letter]:.2f}" for letter in ends] or ["", ""]),
        )
    made.kept = {
        "time_of_builds": {name: round(time, 3) for name, time in times.items()},
        "hops_per_second": {
            build.name: round(1e9 / batches[0].nanoseconds(build.name)) for build in builds
        },
    }
    return made
