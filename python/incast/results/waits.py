"""The verdict's sentence about blocks that wait without a timeout."""

from collections.abc import Mapping
from typing import Any

from incast import units
from incast.results.causes import OTHER_STALLS

_FOR = {
    "stalls_tail_probe": "for a tail-loss probe",
    "stalls_pacer": "for the sender's pacer",
    "stalls_persist": "for a zero-window probe",
    "stalls_delayed_ack": "for a delayed ACK",
    "stalls_application": "for the application",
    "stalls_network": "for packets in flight",
}


def others(row: Mapping[str, Any]) -> float:
    """Return the stalls that no timeout ended: per block, or per run if the run has no blocks.

    A long flow does not wait while its packets are in a queue.
    """
    return sum(row.get(name) or 0.0 for name in _kinds(row)) / (row.get("blocks") or 1.0)


def _kinds(row: Mapping[str, Any]) -> list[str]:
    return [name for name in OTHER_STALLS if row.get("blocks") or name != "stalls_network"]


def sentence(row: Mapping[str, Any], where: str) -> str:
    """Describe how often, how long and why blocks wait without a timeout; empty if none wait.

    Parameters
    ----------
    row
        The means of a point, and its longest stall.
    where
        The name of the point, such as "at 24 servers"; empty if there is only one point.
    """
    often = others(row)
    if not often:
        return ""
    count = sum(row.get(name) or 0.0 for name in _kinds(row))
    name = max(_kinds(row), key=lambda name: row.get(name) or 0.0)
    share = row[name] / count
    who = "blocks" if row.get("blocks") else "flows"
    begin = (
        f"{who.capitalize()} also wait without a timeout" if row["timeouts"] else f"But {who} wait"
    )
    stalls = f"{units.number(often, 2)} stalls" + (" per block" if row.get("blocks") else "")
    longest = row.get("stall_max_s")
    upto = f" of up to {units.time(longest)}" if longest and not row["timeouts"] else ""
    what = _FOR[name] if share == 1 else f"{units.percent(share)} of them {_FOR[name]}"
    return f" {begin}{f', {where}' if where else ''}: {stalls}{upto}, {what}."
