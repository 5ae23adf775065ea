"""What the verdict says of blocks that wait without a timeout."""

from collections.abc import Mapping
from typing import Any

from incast import units
from incast.results.causes import OTHER_STALLS


def others(row: Mapping[str, Any]) -> float:
    """Return how many stalls of a row no timeout ended."""
    return sum(row.get(name) or 0.0 for name in OTHER_STALLS)


def clause(row: Mapping[str, Any]) -> str:
    """Say how often a block waited though no timer expired, why, and how long; or nothing.

    Parameters
    ----------
    row
        Means of a point.
    """
    count = others(row)
    if not count:
        return ""
    name = max(OTHER_STALLS, key=lambda name: row.get(name) or 0.0)
    share = (row[name] or 0.0) / count
    blocks = row.get("blocks") or 0.0
    often = count / blocks if blocks else count
    text = f"{units.number(often, 2)} {'other ' if row['timeouts'] else ''}stalls"
    text += " per block" if blocks else ""
    by = OTHER_STALLS[name] if share == 1 else f"{OTHER_STALLS[name]} ({units.percent(share)})"
    longest = row.get("stall_max_s")
    upto = f" of up to {units.time(longest)}" if longest and not row["timeouts"] else ""
    return f"{text}{upto}, ended by {_ARTICLES.get(name, 'the')} {by}"


_ARTICLES = {name: "a" for name in ("stalls_tail_probe", "stalls_persist", "stalls_delayed_ack")}
