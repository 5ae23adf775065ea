"""The foreign part of the page: criteria beside ours, kinds, assumptions, and public captures."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from validation.captures import scoring
from validation.captures.foreign import judging

if TYPE_CHECKING:
    from validation.captures.foreign.judging import Score
    from validation.captures.scoring import Criterion

_HERE = Path(__file__)
ASSUMPTIONS = _HERE.with_name("assumptions.md")
PUBLIC = _HERE.parents[1] / "public.csv"

_HEAD = """\
## Foreign captures

{count} captures as other people's networks make them (`validation/captures/foreign`): hosts that
number packets in other ways, files that lack packets or have them twice, tunnels and mirrors,
windows that close, slow services, and troubles of the network that are no incast. Packets come from
the simulator, rewritten; from a small TCP; and from real hosts behind the kernel's own bridge, with
offloads. Halves are in `validation/captures/foreign/split.csv`.

A wait is in doubt if nothing in the file shows its loss: no repeat, no hole that is filled, no
acknowledgement that repeats, and, where a connection counts its packets, no number that is missing.
An episode of such waits only may be called incast, or not. An incomplete file of incast must leave
it open, unless repeats or filled holes are left in it.
"""
_PUBLIC = """\
## Public captures

{count} files with TCP of {repositories} public repositories that no finding had named. They
cannot be part of this one. {incast} of them {is_are} called incast. Before the rules asked for
witnesses it were 61; the packets of 20 of these were read, and none was incast. Several kinds of
false causes were found with these files and mended, so they are no held-out half. Then 49 549
waits had a cause, and 34 000 of them ended with new data in order; now 7 286 have one, of which
5 242 are SYNs that were sent again. The others are segments that are seen twice and holes that are
filled, but for 155 when they were counted last: of these a part is wrong, as their hosts seem to
count the packets of each connection, and packets are missing for another reason. Most files are
small, and few are of a cluster.
"""


def summary(ours: scoring.Score, foreign: Score) -> list[str]:
    """Return a table of the criteria, our captures and foreign ones; what is missed is bold."""
    rows = ["| Criterion | ours | must be | foreign | must be |", "| :-- | --: | --: | --: | --: |"]
    left = {one.what: one for one in scoring.criteria(ours)}
    right = {one.what: one for one in judging.criteria(foreign)}
    for what in {**left, **right}:
        cells = [
            f"{_told(one)} | {one.least}" if (one := side.get(what)) else "– | –"
            for side in (left, right)
        ]
        rows.append(f"| {what} | {' | '.join(cells)} |")
    return rows


def _told(one: Criterion) -> str:
    return f"{one.value:.3f}" if one.value >= one.least else f"**{one.value:.3f}**"


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
    """Return what was said of public captures."""
    with PUBLIC.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    sums = [sum(int(row[at]) for row in rows) for at in range(1, len(head))]
    count, repositories, incast = sums[1], sums[0], sums[2]
    told = _PUBLIC.format(
        count=count, repositories=repositories, incast=incast, is_are="is" if incast == 1 else "are"
    )
    table = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return [told, table[0], f"| :-- |{' --: |' * (len(head) - 1)}", *table[1:], ""]
