"""Where the instructions of a packet-hop are: the crates of the engine, and the libraries."""

from __future__ import annotations

import shutil

from timing import callgrind
from timing.cases import ENGINE
from timing.sheet import Sheet

LEAST = 0.5
"""Parts with fewer instructions per packet-hop in every case are in one row."""
REST = "other"


def sheet() -> Sheet:
    """Return the table."""
    made = Sheet(
        "Where the instructions are",
        ["instructions per packet-hop", *(case.letter for case in ENGINE)],
    )
    if shutil.which("valgrind") is None:
        made.note = "Not counted: valgrind is not installed."
        return made
    found = callgrind.all_at_once(callgrind.spent, [case.document for case in ENGINE])
    shares = [{name: count / one.hops for name, count in one.parts.items()} for one in found]
    names = sorted(
        {name for one in shares for name, count in one.items() if count >= LEAST},
        key=lambda name: -max(one.get(name, 0) for one in shares),
    )
    totals = [one.instructions / one.hops for one in found]
    for name in names:
        made.add(_title(name), *(f"{one.get(name, 0):,.0f}" for one in shares))
    rest = [
        total - sum(one.get(name, 0) for name in names)
        for total, one in zip(totals, shares, strict=True)
    ]
    made.add(REST, *(f"{max(count, 0):,.0f}" for count in rest))
    made.add("together", *(f"{total:,.0f}" for total in totals))
    made.add(
        "events per packet-hop",
        *("" if one.events is None else f"{one.events / one.hops:.2f}" for one in found),
    )
    made.note = _note(shares, totals)
    return made


def _title(name: str) -> str:
    return name if " " in name else f"`{name}`"


def _note(shares: list[dict[str, float]], totals: list[float]) -> str:
    """Say who wrote the instructions of the first and of the last case."""
    told = []
    for case, one, total in zip(ENGINE, shares, totals, strict=True):
        if case in (ENGINE[0], ENGINE[-1]):
            first = sorted(one, key=lambda name: -one[name])[:4]
            parts = ", ".join(f"{_title(name)} {100 * one[name] / total:.0f} %" for name in first)
            told.append(f"In case {case.letter}, the largest parts are {parts}.")
    return (
        "From the same counts. An instruction belongs to the crate (`crates/`) or library in whose "
        "source it was written, even if it was inlined elsewhere. The rings are `VecDeque` and its "
        "memory; every crate has some. " + " ".join(told)
    )
