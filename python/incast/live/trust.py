"""Decide whether a run of real hosts can be trusted."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LATE_MAX = 10e-3
"""Largest delay with which a frame may leave the switch, in seconds."""
LATE_P99 = 0.5e-3
"""Largest delay that 99 of 100 frames may have, in seconds."""
BUSIEST = 0.95
"""Largest share of the run in which the switch's or the hosts' thread may be busy."""
LONGEST_WAIT = 0.05
"""Largest share of the run in which the hosts' thread may wait for a processor."""


@dataclass(frozen=True)
class Clock:
    """Times of this thread: readings in seconds, or shares of the time between two readings.

    Parameters
    ----------
    real
        Real time.
    busy
        Processor time of the thread.
    waiting
        Time in which the thread was ready but had no processor.
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
        """Return the real time since another reading, and the shares of this time."""
        real = max(self.real - before.real, 1e-9)
        return Clock(real, (self.busy - before.busy) / real, (self.waiting - before.waiting) / real)


def doubts(measured: Mapping[str, Any], hosts: Clock) -> list[str]:
    """Return the reasons why a run cannot be trusted; an empty list if it can be trusted.

    Parameters
    ----------
    measured
        The measurements of the switch.
    hosts
        Shares of the run in which the thread of the hosts' sockets was busy or waiting.
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
