"""When a run of real hosts can be believed."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from incast._core import Measured

LATE_MAX = 5e-3
"""Seconds by which a frame may at most leave the switch too late."""
LATE_P99 = 0.5e-3
"""The same, for 99 of 100 frames."""
BUSIEST = 0.95
"""The share of the run in which a thread, or all processors, may be busy."""


@dataclass(frozen=True)
class Clock:
    """Times at which processors were used: of this thread, and of the whole machine.

    Parameters
    ----------
    real, thread
        Seconds of real time, and of this thread's processor time.
    busy, all
        Ticks in which the machine's processors did something, and all ticks.
    """

    real: float
    thread: float
    busy: int
    all: int

    @classmethod
    def now(cls) -> "Clock":
        """Read the clocks."""
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        ticks = [int(word) for word in words[1:9]]
        busy = sum(ticks) - ticks[3] - ticks[4]  # idle, and waiting for disks
        return cls(time.monotonic(), time.thread_time(), busy, sum(ticks))

    def shares_since(self, before: "Clock") -> tuple[float, float]:
        """Return the busy shares of this thread and of the machine."""
        real = max(self.real - before.real, 1e-9)
        ticks = max(self.all - before.all, 1)
        return (self.thread - before.thread) / real, (self.busy - before.busy) / ticks


def doubts(measured: "Measured", shares: tuple[float, float]) -> list[str]:
    """Return why a run cannot be believed; nothing if it can."""
    told = []
    if measured["late_max_s"] > LATE_MAX or measured["late_p99_s"] > LATE_P99:
        told.append("the switch was late")
    if measured["missed"]:
        told.append("the kernel dropped frames outside the switch")
    if max(measured["busy"], shares[0]) > BUSIEST or (
        shares[1] > BUSIEST and (os.cpu_count() or 1) > 1
    ):
        told.append("a processor was saturated")
    return told
