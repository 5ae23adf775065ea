"""The fixes that this kernel supports, and their kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.advised.hosts import allowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incast.advise.case import Case
    from incast.advise.fixes import Fix

_BEGINNINGS = {
    "rto_min": "rto_min",
    "a buffer of": "buffer",
    "initcwnd": "initcwnd",
    "cwnd at most": "cwnd lock",
    "receive window": "receive window",
    "quick ACKs": "quickack",
    "SACK": "SACK, RACK and probes",
    "slow start after idle": "slow start after idle",
    "congestion control": "congestion control",
    "ECN": "ECN and marks",
    "alpha": "alpha",
    "keep connections": "kept connections",
    "requests within": "requests at random times",
    "a request every": "requests one by one",
    "ccs": "ccs",
    "ocs": "ocs",
}
APPLICATION = {
    *("kept connections", "requests at random times", "requests one by one", "ccs", "ocs"),
    *("fewer at once", "bounded answers"),
}
"""Kinds whose commands are code of the client."""


def kind(name: str) -> str | None:
    """Return the kind of the fix with this name; None if this kernel does not support the fix."""
    if name.endswith("times the buffer"):
        return "buffer"
    if name.endswith("per connection"):
        return None  # this fix needs the queue fq
    if name.startswith("at most "):
        return "bounded answers" if "windows" in name else "fewer at once"
    return next((word for begin, word in _BEGINNINGS.items() if name.startswith(begin)), None)


def possible(case: Case, fixes: Sequence[Fix]) -> dict[str, list[Fix]]:
    """Return the fixes that hosts in namespaces of this kernel support, by kind."""
    found: dict[str, list[Fix]] = {}
    for fix in fixes:
        one = kind(fix.name)
        if one == "congestion control":
            now = str(case.transport["congestion_control"]["name"])
            if not {fix.name.split()[-1], now} <= set(allowed()):
                continue
        if one is not None:
            found.setdefault(one, []).append(fix)
    return found
