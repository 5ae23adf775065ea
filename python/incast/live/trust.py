"""When a run of real hosts can be trusted."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LATE_MAX = 10e-3
"""Seconds by which a frame may at most leave the switch too late."""
LATE_P99 = 0.5e-3
"""The same, for 99 of 100 frames."""
BUSIEST = 0.95
"""The share of the run in which the switch's or the hosts' thread may be busy."""
LONGEST_WAIT = 0.05
"""The share of the run in which the hosts' thread may wait for a processor."""


@dataclass(frozen=True)
class Clock:
    """How this thread spent its time so far, in seconds.

    Parameters
    ----------
    real
        Real time.
    busy
        Its processor time.
    waiting
        What it was ready for, without a processor.
    """

    real: float
    busy: float
    waiting: float

    @classmethod
    def now(cls) -> "Clock":
        """Read the clocks."""
        told = Path("/proc/thread-self/schedstat")
        waiting = int(told.read_text().split()[1]) / 1e9 if told.exists() else 0.0
        return cls(time.monotonic(), time.thread_time(), waiting)

    def since(self, before: "Clock") -> "Clock":
        """Return the shares of the time since another reading."""
        real = max(self.real - before.real, 1e-9)
        return Clock(real, (self.busy - before.busy) / real, (self.waiting - before.waiting) / real)


def doubts(measured: Mapping[str, Any], hosts: Clock) -> list[str]:
    """Return why a run cannot be trusted; nothing if it can.

    Parameters
    ----------
    measured
        What the switch has measured.
    hosts
        Shares of the run of the thread that serves the hosts' sockets.
    """
    told = []
    late = (measured["late_max_s"] or 0.0, measured["late_p99_s"] or 0.0)
    if late[0] > LATE_MAX or late[1] > LATE_P99:
        told.append("the switch was late")
    if measured["missed"]:
        told.append("the kernel dropped frames outside the switch")
    if max(measured["busy"] or 0.0, hosts.busy) > BUSIEST or hosts.waiting > LONGEST_WAIT:
        told.append("a processor was saturated")
    return told
