"""How much work a run is, known before it is done."""

from math import ceil
from typing import Any

from incast.scenario.resolved import Resolved


def packets(resolved: dict[str, Any]) -> float:
    """Return roughly the packets of data that a run sends: its time is in proportion to them.

    Time that passes without packets costs nothing, so a collapse makes no run longer. A duration
    is an upper bound: that many packets fit through the client's link.

    Parameters
    ----------
    resolved
        One point of a plan.
    """
    here, workload = Resolved(resolved), resolved["workload"]
    bounds = []
    if workload.get("blocks") is not None:
        bounds.append(here.servers * ceil(here.sru / here.mss) * float(workload["blocks"]))
    if workload.get("duration") is not None:
        seconds = float(str(workload["duration"]).removesuffix("s"))
        bounds.append(here.capacity * seconds / 8 / here.packet)
    return min(bounds, default=1.0)
