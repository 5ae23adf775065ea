"""The work of a run, estimated in advance."""

from incast.scenario.resolved import Resolved

# Data packets that take as long as what every run costs: its world, its rows, a share of a file.
_RUN = 300


def packets(here: Resolved) -> float:
    """Return the approximate number of data packets of a run; its time is proportional to it.

    Simulated time without packets costs nothing, so a collapse does not make a run longer. For a
    duration, the estimate is an upper bound: the packets that the client's link can carry.
    """
    workload = here.workload
    bounds = []
    if workload.get("blocks") is not None:
        bounds.append(here.block_packets * float(workload["blocks"]))
    if here.facts["duration_s"] is not None:
        bounds.append(here.capacity * here.facts["duration_s"] / 8 / here.packet)
    return min(bounds, default=1.0)


def cost(here: Resolved) -> int:
    """Return the approximate time of a run, in that of a data packet: the same on every machine."""
    return round(packets(here)) + _RUN
