"""The foreign part of the page: criteria, kinds, assumptions, and public captures."""

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

There are {count} captures that resemble captures of other people's networks
(`validation/captures/foreign`). The captures cover hosts that number packets in other ways, files
that lack packets or contain them twice, tunnels, mirror ports, windows that close, slow services,
and network problems other than incast. The packets come from the simulator, whose packets are
rewritten, from a small implementation of TCP, and from real hosts with offloads behind the kernel's
own bridge. `validation/captures/foreign/split.csv` lists which captures are held out.

A wait is doubtful if nothing in the file shows a loss: no retransmission, no hole that is filled,
no duplicate ACK and, if identifications count the packets of a connection, no missing number. If
all waits of an episode are doubtful, either answer is accepted. For an incomplete file with incast
the answer must be "cannot tell", unless retransmissions or filled holes in the file prove the
incast.
"""
_PUBLIC = """\
## Public captures

The diagnosis was also run on {count} capture files with TCP from {repositories} public
repositories. No file was known from an earlier mistake of the diagnosis. The files cannot be
included in this repository. {incast} of these files {is_are} reported as incast. Before the rules
required a packet that shows the loss, 61 files were reported as incast. The packets of 20 of these
files were inspected, and none of the 20 files showed incast. Several kinds of false causes were
found with these files and corrected, so the files are not a held-out set. With the earlier rules,
49 549 waits had a cause, and 34 000 of these waits ended with new data in order. Now 7 286 waits
have a cause. For 5 242 of these waits, the cause is a retransmitted SYN. Most of the other causes
come from segments that are seen twice and from holes that are filled. At the last count, 155 causes
came from other signs. Some of these 155 causes are wrong: the hosts seem to count the packets of
each connection, but packets are missing for another reason. Most files are small, and few come from
a cluster.
"""


def summary(ours: scoring.Score, foreign: Score) -> list[str]:
    """Return a table of the criteria for our and for foreign captures; missed ones are bold."""
    head = "| Criterion | ours | at least | foreign | at least |"
    rows = [head, "| :-- | --: | --: | --: | --: |"]
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
    """Return the section of the page on foreign captures."""
    rows = ["| Look-alike | found | ruled out | cannot tell |", "| :-- | --: | --: | --: |"]
    for name in sorted({name for name, _ in score.named}):
        said = [str(score.named[name, one]) for one in ("found", "ruled out", "cannot tell")]
        rows.append(f"| `{name}` | {' | '.join(said)} |")
    criteria = [
        f"| {one.what} | {one.value:.3f} | {one.least} | {one.told} |"
        for one in judging.criteria(score)
    ]
    head = ["| Criterion | Result | at least | |", "| :-- | --: | --: | :-- |"]
    named = ["", "### Foreign look-alikes", "", *rows]
    kinds = ["", "### By kind", "", *judging.by_kind(score), ""]
    return [_HEAD.format(count=score.captures), *head, *criteria, *named, *kinds]


def assumptions() -> list[str]:
    """Return the table of the diagnosis's assumptions about hosts and files."""
    head = "## What the diagnosis assumes"
    return [head, "", ASSUMPTIONS.read_text(encoding="utf-8").rstrip("\n"), ""]


def public() -> list[str]:
    """Return the section of the page on public captures."""
    with PUBLIC.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    sums = [sum(int(row[at]) for row in rows) for at in range(1, len(head))]
    count, repositories, incast = sums[1], sums[0], sums[2]
    told = _PUBLIC.format(
        count=count, repositories=repositories, incast=incast, is_are="is" if incast == 1 else "are"
    )
    table = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    return [told, table[0], f"| :-- |{' --: |' * (len(head) - 1)}", *table[1:], ""]
