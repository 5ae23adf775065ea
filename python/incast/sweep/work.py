"""The work of a run, estimated in advance."""

import time

from incast import _core
from incast.scenario.document import load
from incast.scenario.resolved import Resolved

# Seconds of Python code per run, for its rows and for its part of a file; measured by
# `python benches/store.py`.
OVERHEAD = 1e-4

# A scenario that simulates in about ten milliseconds. It measures the speed of this machine if no
# finished run has measured it.
_SAMPLE = {
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
    "workload": {"name": "barrier-read", "servers": 16, "sru": "64KiB", "blocks": 20},
    "transport": {"name": "newreno", "rto_min": "1ms"},
}

# Fixed cost of a run (its set-up, its rows and its part of a file), in data packets.
_RUN = 300


def packets(here: Resolved) -> float:
    """Return the approximate number of data packets, to which the time of a run is proportional.

    Simulated time without packets costs nothing, so a collapse does not make a run longer. For a
    workload with a duration, the estimate is an upper bound: the packets that the clients' links
    can carry in this time.
    """
    workload = here.workload
    bounds = []
    if workload.get("blocks") is not None:
        bounds.append(here.block_packets * float(workload["blocks"]))
    if here.facts["duration_s"] is not None:
        bounds.append(here.capacity * here.facts["duration_s"] / 8 / here.packet)
    return min(bounds, default=1.0)


def cost(here: Resolved) -> int:
    """Return the approximate cost of a run in data packets; it is the same on every machine."""
    return round(packets(here)) + _RUN


def speed_here() -> float:
    """Measure the seconds per packet of a short run; return the lowest of three values."""
    point = load(_SAMPLE).plan.points[0]
    times = []
    for seed in range(3):
        start = time.perf_counter()
        _core.run(point.scenario, seed)
        times.append(time.perf_counter() - start)
    return min(times) / packets(point.here)
