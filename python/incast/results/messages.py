"""The sentence on workloads for which no collapse is defined: their times, waits and links."""

from collections.abc import Mapping, Sequence
from typing import Any

from incast import units
from incast.results import causes
from incast.scenario.resolved import Resolved

_BLOCKS = {"all-to-all": "round", "empirical-flows": "message"}
"""The word for a block in the verdict on these workloads."""


def sentence(
    rows: Sequence[Mapping[str, Any]], at: Sequence[Resolved], points: Sequence[str]
) -> str:
    """Describe the point at which the slowest blocks take longest.

    Parameters
    ----------
    rows
        The means of each point.
    at
        The quantities of each point.
    points
        The name of each point.
    """
    worst = max(range(len(rows)), key=lambda i: _number(rows[i], "completion_p99_s"))
    row, here = rows[worst], at[worst]
    doing = next(one.doing for one in at if not one.judged)
    where = f"At {points[worst]}: " if len(rows) > 1 else ""
    why = ", ".join(filter(None, (causes.told(row, _noun(here)), causes.most(row))))
    told = "; ".join(filter(None, (_times(row, here), why, _links(row, here))))
    return (
        f"No verdict: a collapse is defined for one read, or for long flows, not for {doing}. "
        f"{where}{told if where else told[0].upper() + told[1:]}."
    )


def _number(row: Mapping[str, Any], name: str) -> float:
    return float(row.get(name) or 0.0)


def _noun(here: Resolved) -> str:
    return _BLOCKS.get(here.doing, "block")


def _times(row: Mapping[str, Any], here: Resolved) -> str:
    """Describe the times of blocks, and for a round also the time of its data on a link."""
    median, late = row.get("completion_p50_s"), row.get("completion_p99_s")
    if not median or not late:
        return ""
    text = f"a {_noun(here)} takes {units.time(median)} (median), {units.time(late)} (p99)"
    if here.doing != "all-to-all":
        return text
    size = (len(here.workload["among"]) - 1) * int(here.workload["message"])
    return f"{text}, and {units.time(size * 8 / here.line_rate)} at the rate of the links"


def _links(row: Mapping[str, Any], here: Resolved) -> str:
    busy = units.percent(_number(row, "link_utilization"))  # the busiest port's link
    goodput = units.rate(_number(row, "goodput_bps"))
    if here.clients == 1:
        return f"goodput is {goodput}, and the busiest link is busy {busy} of the time"
    return (
        f"goodput is {goodput} for all {here.clients} clients together; their links have "
        f"{units.rate(here.line_rate)} each, and the busiest link is busy {busy} of the time"
    )
