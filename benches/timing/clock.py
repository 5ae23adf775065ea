"""Timing on a machine that also does other work.

A disturbance makes a run slower, never faster, and lasts for seconds. In a comparison, the runs of
the two sides therefore alternate, and the fastest run of each side counts. Processor times are
compared, because they exclude other processes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incast import _core

REPEATS = 7
FIRST: dict[str, Any] = {"workload": {"name": "barrier-read", "servers": 1, "sru": "1KB"}}
WORKER = Path(__file__).with_name("worker.py")


@dataclass(frozen=True)
class Timing:
    """The measurements of one run.

    Parameters
    ----------
    hops
        Packet-hops.
    work_s
        Seconds of processor time from the scenario to the row; of another simulator, in its event
        loop.
    process_s
        Seconds of the whole process.
    peak_kib
        Peak memory of the process.
    goodput
        Goodput of the simulated read, bits per second.
    timeouts
        Number of timeouts in the simulated read.
    """

    hops: float
    work_s: float
    process_s: float = 0.0
    peak_kib: float = 0.0
    goodput: float = 0.0
    timeouts: int = 0

    @property
    def speed(self) -> float:
        """Packet-hops per second of processor time."""
        return self.hops / self.work_s

    @property
    def work_ns(self) -> float:
        """Processor time per packet-hop, nanoseconds."""
        return 1e9 * self.work_s / self.hops


def fastest(runs: list[Timing]) -> Timing:
    """Return the run with the most packet-hops per second."""
    return max(runs, key=lambda run: run.speed)


def least_work(runs: list[Timing]) -> float:
    """Return the least processor time per packet-hop, nanoseconds."""
    return min(run.work_ns for run in runs)


def prepared(document: dict[str, Any]) -> _core.Scenario:
    """Return the scenario's only point in the form that the engine takes."""
    from incast import load

    point: Any = load(document).plan.points[0]
    # The other build may be older, and then takes the resolved scenario as a string.
    return point.scenario if hasattr(point, "scenario") else json.dumps(point.resolved)


def run_here(document: dict[str, Any]) -> Timing:
    """Run a scenario in this process."""
    from incast import _core

    scenario = prepared(document)
    started = time.thread_time()
    row = _core.run(scenario, 1)["rows"][0]
    work = time.thread_time() - started
    return Timing(
        row["packet_hops"],
        work,
        peak_kib=_peak_kib(),
        goodput=row["goodput_bps"] or 0.0,
        timeouts=row["timeouts"],
    )


def _peak_kib() -> float:
    """Return the peak memory of this process, without that of the process that started it."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("VmHWM:"):
            return float(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class Worker:
    """A process that runs scenarios with the installed package or with another build.

    Parameters
    ----------
    package
        The folder of another build's `incast`; None for the installed package.
    """

    def __init__(self, package: Path | None = None) -> None:
        path = [] if package is None else [str(package)]
        inherited = [entry for entry in [os.environ.get("PYTHONPATH")] if entry]
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path + inherited)},
        )
        self.package = Path(json.loads(self._answer()))
        if package is not None and self.package.resolve() != (package / "incast").resolve():
            sys.exit(f"speed: {package} has no package incast; give the folder that has it")

    def run(self, document: dict[str, Any]) -> Timing:
        """Run a scenario in the process."""
        assert self._process.stdin is not None
        print(json.dumps(document), file=self._process.stdin, flush=True)
        return Timing(**json.loads(self._answer()))

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("speed: a run failed; its message is above")
        return line

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def alone(document: dict[str, Any], package: Path | None = None) -> Timing:
    """Run a scenario in a separate process, for its peak memory and total time.

    Before this run, the process does another run, which loads modules and warms caches.

    Parameters
    ----------
    document
        The scenario.
    package
        The folder of another build's `incast`; None for the installed package.
    """
    started = time.perf_counter()
    worker = Worker(package)
    worker.run(FIRST)
    timing = worker.run(document)
    worker.close()
    return replace(timing, process_s=time.perf_counter() - started)
