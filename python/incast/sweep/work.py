"""How much work a run is, known before it is done."""

from incast.scenario.resolved import Resolved


def packets(here: Resolved) -> float:
    """Return roughly the packets of data that a run sends: its time is in proportion to them.

    Time that passes without packets costs nothing, so a collapse makes no run longer. A duration
    is an upper bound: that many packets fit through the client's link.
    """
    workload = here.tree["workload"]
    bounds = []
    if workload.get("blocks") is not None:
        bounds.append(here.block_packets * float(workload["blocks"]))
    if here.facts["duration_s"] is not None:
        bounds.append(here.capacity * here.facts["duration_s"] / 8 / here.packet)
    return min(bounds, default=1.0)
