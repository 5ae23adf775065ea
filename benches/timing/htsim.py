"""Speed beside htsim, if the variable `HTSIM` names a program that simulates incast with it.

htsim is a library, so everyone writes such a program; none is in this project. The program is
called as `PROGRAM SENDERS BYTES BUFFER WINDOW SEED` and simulates one TCP transfer from each of
SENDERS hosts to one client. All links, one per host and direction, have 1 Gbit/s and 25 us. Each
transfer has BYTES bytes in packets of 1,460 bytes and a header of 40; ACKs have 40 bytes. The port
of the switch to the client holds BUFFER packets, the other ports hold all. Windows start at 10
packets and grow to at most WINDOW packets; the transfers start within 20 us, at times drawn with
SEED. The program ends when the last sender has its last ACK, and prints these lines, in any order
and among others:

    hops N        packet-hops: a dropped packet crossed one link, another two, and its ACK two
    events N      events that the event list executed
    goodput X     bits per second of all transfers, without headers
    timeouts N    retransmission timeouts of all senders
    seconds X     processor time of the event loop
"""

from __future__ import annotations

import math
import os
import subprocess
from dataclasses import dataclass
from typing import Any

from timing import bars, callgrind, packages
from timing.cases import star
from timing.clock import REPEATS, Timing, Worker, least_work
from timing.packages import Build
from timing.sheet import Sheet

VARIABLE = "HTSIM"
NAMES = ("hops", "events", "goodput", "timeouts", "seconds")
SEED = 1
TIME_LIMIT = 600.0


@dataclass(frozen=True)
class Workload:
    """An incast: the arguments of the program, and ours with the same numbers."""

    name: str
    senders: int
    bytes: int
    buffer: int
    window: int

    def document(self) -> dict[str, Any]:
        """Return our scenario; its shortest RTO is that of htsim."""
        found = star("newreno", f"{self.buffer}pkt", window=self.window)
        found["workload"] |= {"servers": self.senders, "sru": f"{self.bytes}B"}
        found["transport"]["rto_min"] = "250ms"
        return found

    def words(self) -> list[str]:
        """Return the arguments of the program."""
        return [str(it) for it in (self.senders, self.bytes, self.buffer, self.window, SEED)]


WORKLOADS = [
    Workload("32 × 10 MB, ample buffer", 32, 10_000_000, 4_000, 100),
    Workload("32 × 10 MB, 32 packets", 32, 10_000_000, 32, 1_000),
    Workload("432 × 1 MB, ample buffer", 432, 1_000_000, 10_000, 10),
    Workload("432 × 1 MB, 128 packets", 432, 1_000_000, 128, 1_000),
]
TRIAL = Workload("trial", 2, 100_000, 100, 10)


class HtsimError(Exception):
    """The program did not do what `HTSIM` promises; the message is one line."""


@dataclass(frozen=True)
class Output:
    """What the program printed."""

    hops: float
    events: float
    goodput: float
    timeouts: float
    seconds: float

    @property
    def nanoseconds(self) -> float:
        """Processor time per packet-hop."""
        return 1e9 * self.seconds / self.hops


def read(text: str) -> Output:
    """Read the program's output.

    Raises
    ------
    HtsimError
        A line is missing, or has no number that it can have.
    """
    found: dict[str, float] = {}
    for line in text.splitlines():
        name, _, value = line.strip().partition(" ")
        if name not in NAMES:
            continue
        if name in found:
            raise HtsimError(f"{name}: must be printed once")
        try:
            found[name] = float(value)
        except ValueError:
            raise HtsimError(f"{name}: must be a number, not {value.strip()!r}") from None
        positive = name in ("hops", "events", "seconds")
        if not math.isfinite(found[name]) or found[name] < 0 or (positive and not found[name]):
            least = "above 0" if positive else "at least 0"
            raise HtsimError(f"{name}: must be {least}, not {value.strip()}")
    if missing := [name for name in NAMES if name not in found]:
        raise HtsimError(
            f"the output must have the lines {', '.join(NAMES)}; missing: {missing[0]}"
        )
    return Output(**found)


def run(program: str, workload: Workload) -> Output:
    """Run the program."""
    try:
        done = subprocess.run(
            [program, *workload.words()],
            capture_output=True,
            check=False,
            text=True,
            timeout=TIME_LIMIT,
        )
    except OSError as error:
        raise HtsimError(f"cannot run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise HtsimError(f"must end within {TIME_LIMIT:g} s") from None
    if done.returncode:
        raise HtsimError(f"exit code {done.returncode}, with {' '.join(workload.words())}")
    return read(done.stdout)


def program() -> str | None:
    """Return the program of `HTSIM`, after a short trial of it; None if the variable is not set."""
    if not (path := os.environ.get(VARIABLE)):
        return None
    try:
        run(path, TRIAL)
    except HtsimError as error:
        raise SystemExit(f"speed: {VARIABLE}={path}: {error}") from None
    return path


def sheet(builds: list[Build], path: str | None) -> Sheet:
    """Return the table, and keep the least ratio of each build.

    Parameters
    ----------
    builds
        The builds to compare.
    path
        The program; None if there is none.
    """
    builds = [build for build in builds if build.name != packages.DEMO]
    headings = ["workload", "packet-hops", "events", "goodput, Mbit/s", "timeouts", "htsim: ns"]
    for build in builds:
        headings += [f"{build.name}: ns", "ratio", "bar"]
    made = Sheet("Beside htsim", headings, _note(path))
    if path is None:
        return made
    least: dict[str, float] = {}
    for workload in WORKLOADS:
        ours, theirs = _interleaved(builds, path, workload)
        best = min(theirs, key=lambda one: one.nanoseconds)
        cells = [*_simulated(workload, ours[builds[0].name][0], best), f"{best.nanoseconds:.1f}"]
        for name, runs in ours.items():
            time = least_work(runs)
            ratio, bar = best.nanoseconds / time, bars.HTSIM.of(guided=name == packages.GUIDED)
            least[name] = min(least.get(name, ratio), ratio)
            cells += [f"{time:.1f}", f"{ratio:.2f}", f"{bar.now:g}"]
            if round(ratio, 2) < bar.now:
                made.missed.append(f"{workload.name} ({name}), {ratio:.2f} of {bar.now:g}")
        made.add(workload.name, *cells)
    made.kept = {"htsim": {name: round(ratio, 2) for name, ratio in least.items()}}
    return made


def _interleaved(
    builds: list[Build], path: str, workload: Workload
) -> tuple[dict[str, list[Timing]], list[Output]]:
    """Run each build and the program in turn."""
    workers = {build.name: Worker(build.package) for build in builds}
    ours: dict[str, list[Timing]] = {name: [] for name in workers}
    theirs = []
    for _ in range(REPEATS):
        for name, worker in workers.items():
            ours[name].append(worker.run(workload.document()))
        theirs.append(run(path, workload))
    for worker in workers.values():
        worker.close()
    return ours, theirs


def _simulated(workload: Workload, ours: Timing, theirs: Output) -> list[str]:
    """Return what each side simulated: packet-hops, events, goodput and timeouts."""
    events = callgrind.events(workload.document())
    return [
        f"{ours.hops:,.0f} / {theirs.hops:,.0f}",
        f"{'?' if events is None else f'{events:,.0f}'} / {theirs.events:,.0f}",
        f"{ours.goodput / 1e6:,.1f} / {theirs.goodput / 1e6:,.1f}",
        f"{ours.timeouts:,} / {theirs.timeouts:,.0f}",
    ]


def _note(path: str | None) -> str:
    if path is None:
        return (
            f"Not measured: the variable `{VARIABLE}` named no program (`benches/timing/htsim.py`)."
        )
    return (
        "incast and a program of htsim (named by `HTSIM`; `benches/timing/htsim.py` says what it "
        f"must do) run alternately, the shortest of {REPEATS} runs. Columns with two values have "
        "ours first. Our time is the processor time from the scenario to the row; that of htsim is "
        "the processor time of its event loop. The ratio is the time of htsim per packet-hop "
        "divided by ours. The two are not equal: the TCP of htsim is NewReno with integer windows, "
        "has no SACK, counts nothing but packets, and looks for timeouts every 10 ms."
    )
