"""Timing on a machine that does other things as well.

A disturbance makes a run slower, never faster, and lasts for seconds. So runs of the two
sides alternate, and the fastest of each side are compared; where both sides are ours, by the time
for which the processor worked on them, in which others have no part.
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
    """One run.

    Parameters
    ----------
    hops
        Packet-hops.
    loop_s
        Seconds of the event loop.
    work_s
        Seconds of the processor, from the scenario to the row.
    process_s
        Seconds of the whole process.
    peak_kib
        Peak memory of the process.
    goodput
        Of the simulated read, bits per second.
    timeouts
        In the simulated read.
    """

    hops: float
    loop_s: float
    work_s: float = 0.0
    process_s: float = 0.0
    peak_kib: float = 0.0
    goodput: float = 0.0
    timeouts: int = 0

    @property
    def speed(self) -> float:
        """Packet-hops per second of the event loop."""
        return self.hops / self.loop_s

    @property
    def work_ns(self) -> float:
        """Work of the processor per packet-hop, nanoseconds."""
        return 1e9 * self.work_s / self.hops


def fastest(runs: list[Timing]) -> Timing:
    """Return the run with the shortest event loop."""
    return max(runs, key=lambda run: run.speed)


def least_work(runs: list[Timing]) -> float:
    """Return the nanoseconds per packet-hop of the run that was disturbed least."""
    return min(run.work_ns for run in runs)


def prepared(document: dict[str, Any]) -> _core.Scenario:
    """Return the scenario's only point, as the engine takes it."""
    from incast import load

    point: Any = load(document).plan.points[0]
    # Builds that are compared with may be older, and take a text.
    return point.scenario if hasattr(point, "scenario") else json.dumps(point.resolved)


def run_here(document: dict[str, Any]) -> Timing:
    """Run a scenario in this process."""
    from incast import _core

    scenario = prepared(document)
    started = time.thread_time()
    row = _core.run(scenario, 1)["rows"][0]
    work = time.thread_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Timing(
        row["packet_hops"],
        row["wall_s"],
        work_s=work,
        peak_kib=peak,
        goodput=row["goodput_bps"] or 0.0,
        timeouts=row["timeouts"],
    )


class Worker:
    """A process that runs scenarios, with the installed package or with another build of it.

    Parameters
    ----------
    package
        The folder that holds the other build's `incast`, if it is another one.
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
            sys.exit(f"speed: {package} holds no package incast; write the folder that does")

    def run(self, document: dict[str, Any]) -> Timing:
        """Run a scenario there."""
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


def alone(document: dict[str, Any]) -> Timing:
    """Run a scenario in a separate process, for its peak memory and total time.

    A first run loads what only the first one needs.
    """
    started = time.perf_counter()
    worker = Worker()
    worker.run(FIRST)
    timing = worker.run(document)
    worker.close()
    return replace(timing, process_s=time.perf_counter() - started)
