"""The page of the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from validation.ranking.draw import BLOCKS, GIVEN_UP, PACKET, RANGES, SEED
from validation.ranking.judge import LEVELS, wilson
from validation.ranking.picture import draw

if TYPE_CHECKING:
    from pathlib import Path

    from validation.ranking.judge import Interval, Ranking, Standing

INITIAL_WINDOW = 2  # packets, as in the profile

OPENING = """# A ranking of the remedies

Written by `python -m validation.ranking`, a part of `make validate`; do not edit. The result of one
scenario says little about other scenarios. A remedy that is best with an SRU of 64 KiB and a buffer
of 100 KiB ([which remedy?](../how-to/which-remedy.md)) may not help elsewhere. Here every row of
`scenarios/remedies.toml`, which is a remedy with its parameters, runs in the same {count} random
scenarios. A row is ranked by the number of scenarios in which the read is close to its ideal. The
table groups the rows by the parties that must change.

These values are **drawn** log-uniformly and independently (`validation/ranking/draw.py`, seed
{seed}):

| | |
|---|---|
{ranges}

The other values are those of `scenarios/remedies.toml` **in all scenarios**. All links of the star
are equal, and each block has new connections. The initial window is two segments, and the minimum
RTO is 200 ms unless a remedy sets it. The other traffic consists of datagrams at exponentially
distributed intervals from a separate host to the client. A scenario has {blocks} blocks and one
seed. Remedies have the parameters of that file, with one exception. In the file, switches mark from
20 packets on, which is a value for 1 Gbps. Here they mark from max(20 packets, C·RTT/7) on; C·RTT/7
is the lowest threshold at which DCTCP keeps a link busy ([Alizadeh et al. 2010](theory.md)). The
whole ranking takes about five minutes on one processor.

**The ideal** is the completion time that a block would have if the client's link were busy from the
first packet on and nothing were lost. It is the sum of two round trips (handshake; request and
first packet), the first packet's time on the server's link, and the time of all segments at the
rate that the other traffic leaves. Each segment has 40 bytes of headers. A remedy *keeps 90 %* if
the ideal divided by the mean completion time of the blocks is at least 0.9. A run is stopped if it
takes longer than {given_up} ideal times per block; such a run counts as below 50 %.

![Shares of scenarios](ranking.png)
"""

CLOSING = """\
## Interpretation

- The ideal requires more than the absence of loss, because it does not include slow start. On a
  long path, slow start takes more round trips than the ideal time of a short block. All rows have
  this disadvantage; the row "the best of all" shows what is possible.
- "The best of these" uses the best row of a group in every scenario, as if one could choose a row
  for each scenario. The best row is chosen after the runs, and the rows also differ by chance, so
  the share is slightly too high.
- If the buffer is full, the other traffic also loses packets, and the read can use the capacity
  that becomes free. PLATO drops packets without a label first, so it gains most from this.
- The parameters are not tuned. `pac` assumes a buffer of 80 KiB in all scenarios. `batching` and
  `icat` know the size of the buffer. `ccs`, `nccs`, `ocs` and `ia-tcp` know the rate and the round
  trip, but not the share of the other traffic.
- Each share is a share of these scenarios, not of real networks; other ranges give other shares.
  The intervals reflect only the random choice of scenarios. All rows have the same scenarios, so
  differences between rows are more certain than overlapping intervals suggest.

The numbers of the table are in `validation/reference/ranking/shares.csv`.
"""


def write(folder: Path, ranking: Ranking) -> list[str]:
    """Write the page and the picture; return the lines of the table."""
    spans = [f"| {_NAMES[key]} | {span[2]} |" for key, span in RANGES.items()]
    opening = OPENING.format(
        count=len(ranking.scenarios),
        seed=SEED,
        blocks=BLOCKS,
        given_up=GIVEN_UP,
        ranges="\n".join(spans),
    )
    lines = table(ranking)
    parts = [opening, *lines, "", *_reach(ranking), "", CLOSING]
    (folder / "ranking.md").write_text("\n".join(parts))
    draw(folder / "ranking.png", ranking)
    return lines


_NAMES = {
    "buffer": "buffer of the switch's port to the client",
    "sru": "SRU",
    "rate": "rate of all links",
    "round_trip_ns": "base round trip",
    "servers": "servers",
    "background_permille": "other traffic, as a share of the rate of the client's link",
}


def table(ranking: Ranking) -> list[str]:
    """Return the table, with a line for each row, and for the best of each group."""
    head = " | ".join(f"{100 * level:.0f} %" for level in LEVELS)
    what = "Scenarios [%] in which the remedy keeps at least"
    lines = [f"| {what} | {head} |", "| :-- |" + " --: |" * 3]
    for group in ranking.groups:
        lines.append(f"| **{group.title}** | | | |")
        lines += [_line(f"`{one.label}`", one) for one in group.standings]
        if len(group.standings) > 1:
            lines.append(_line(f"*{group.best.label}*", group.best))
    lines += ["| **All** | | | |", _line(f"*{ranking.best.label}*", ranking.best)]
    return lines


def _line(label: str, standing: Standing) -> str:
    return f"| {label} | " + " | ".join(map(_text, standing.kept)) + " |"


def _text(kept: Interval) -> str:
    return f"{100 * kept.share:.0f} ({100 * kept.low:.0f} to {100 * kept.high:.0f})"


def _reach(ranking: Ranking) -> list[str]:
    """Describe scenarios in which no row keeps 90 %, and rows that are faster than the ideal."""
    filled = np.array(
        [
            drawn.servers * INITIAL_WINDOW * PACKET >= drawn.bandwidth_delay
            for drawn in ranking.scenarios
        ]
    )
    kept = ranking.reached >= LEVELS[0]
    full, short = (wilson(int(kept[at].sum()), int(at.sum())) for at in (filled, ~filled))
    above = ranking.reached > 1
    label, most = max(ranking.above.items(), key=lambda one: one[1])
    nobody, faster = 100 * (1 - kept.mean()), 100 * (ranking.reached.max() - 1)
    return [
        (
            "Wilson's 95 % intervals are in parentheses. In "
            f"{nobody:.0f} % of the scenarios no row keeps 90 %."
        ),
        f"At least one row keeps 90 % in {_text(full)} % of the {filled.sum()} scenarios in which",
        "the initial windows of all servers together fill the path, and in",
        f"{_text(short)} % of the other {(~filled).sum()} scenarios, because slow start then needs",
        "round trips that the ideal does not include.",
        f"In {above.sum()} scenarios some row is faster than the",
        f"ideal, most often `{label}` ({most} scenarios), by at most {faster:.0f} %.",
    ]
