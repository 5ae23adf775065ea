"""The foreign part of the page: criteria beside ours, kinds, assumptions, and public captures."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from validation.captures import scoring
from validation.captures.foreign import judging

if TYPE_CHECKING:
    from validation.captures.foreign.judging import Score

_HERE = Path(__file__)
ASSUMPTIONS = _HERE.with_name("assumptions.md")
PUBLIC = _HERE.parents[1] / "public.csv"

_HEAD = """\
## Foreign captures

{count} captures as other people's networks make them (`validation/captures/foreign`): hosts that
number packets in other ways, files that lack packets or have them twice, tunnels and mirrors,
windows that close, slow services, and troubles of the network that are no incast. Packets come from
the simulator, rewritten; from a small TCP; and from real hosts behind the kernel's own bridge, with
offloads. The half was drawn before the first rule (`validation/captures/foreign/split.csv`).

A wait is in doubt if nothing in the file shows its loss: no repeat, no hole that is filled, no
acknowledgement that repeats, and, where a connection counts its packets, no number that is missing.
An episode of such waits only may be called incast, or not. An incomplete file of incast must leave
it open, unless repeats or filled holes are left in it.
"""
_PUBLIC = """\
## Public captures

Files of public repositories, which cannot be part of this one. They are named so that the result
can be repeated.
"""


def summary(ours: scoring.Score, foreign: Score) -> list[str]:
    """Return a table of the criteria, our captures and foreign ones side by side."""
    rows = ["| Criterion | ours | must be | foreign | must be |", "| :-- | --: | --: | --: | --: |"]
    left = {one.what: one for one in scoring.criteria(ours)}
    right = {one.what: one for one in judging.criteria(foreign)}
    for what in {**left, **right}:
        cells = [
            f"{one.value:.3f} | {one.least}" if (one := side.get(what)) else "– | –"
            for side in (left, right)
        ]
        rows.append(f"| {what} | {' | '.join(cells)} |")
    return rows


def section(score: Score) -> list[str]:
    """Return what the page says of foreign captures."""
    rows = ["| Look-alike | found | ruled out | cannot tell |", "| :-- | --: | --: | --: |"]
    for name in sorted({name for name, _ in score.named}):
        said = [str(score.named[name, one]) for one in ("found", "ruled out", "cannot tell")]
        rows.append(f"| `{name}` | {' | '.join(said)} |")
    criteria = [
        f"| {one.what} | {one.value:.3f} | {one.least} | {one.told} |"
        for one in judging.criteria(score)
    ]
    head = ["| Criterion | Result | must be | |", "| :-- | --: | --: | :-- |"]
    named = ["", "### Foreign look-alikes", "", *rows]
    kinds = ["", "### By kind", "", *judging.by_kind(score), ""]
    return [_HEAD.format(count=score.captures), *head, *criteria, *named, *kinds]


def assumptions() -> list[str]:
    """Return the table of what the diagnosis assumes about hosts and files."""
    head = "## What the diagnosis assumes"
    return [head, "", ASSUMPTIONS.read_text(encoding="utf-8").rstrip("\n"), ""]


def public() -> list[str]:
    """Return what was said of public captures, if anybody has filled it in."""
    with PUBLIC.open(newline="", encoding="utf-8") as file:
        rows = [f"| {' | '.join(row)} |" for row in csv.reader(file)]
    if len(rows) == 1:
        return []
    return [_PUBLIC, rows[0].title(), "| :-- | :-- | :-- | :-- |", *rows[1:], ""]
