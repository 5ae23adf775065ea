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

INITIAL_WINDOW = 2  # packets, as the profile has it

OPENING = """# A ranking of the remedies

Written by `python -m validation.ranking`, a part of `make validate`; do not edit. One read says
little about another: a remedy that is best with 64 KiB of SRU and 100 KiB of buffer
([which remedy?](../how-to/which-remedy.md)) may be of no use elsewhere. Here every row of
`scenarios/remedies.toml` runs through the same {count} random scenarios, and what counts is in how
many of them it keeps the read near its ideal.

**Drawn** log-uniformly and independently (`validation/ranking/draw.py`, seed {seed}):

| | |
|---|---|
{ranges}

**The same everywhere**: the rest of `scenarios/remedies.toml`, that is a star of equal links, a new
connection for each block, windows that begin with two segments, a minimum RTO of 200 ms where no
remedy sets it. The other traffic is datagrams at exponentially distributed intervals from a host of
its own to the client. A scenario is {blocks} blocks at one seed. Remedies have the parameters of
that file, with one exception: switches mark from max(20 packets, C·RTT/7) on, the least at which
DCTCP keeps a link busy ([Alizadeh et al. 2010](theory.md)), for 20 packets are meant for 1 Gbps.
All of it takes two minutes of one processor.

**Ideal** is the time in which a block would be complete if the client's link were busy from the
first packet on and nothing were lost: two round trips (handshake; request and first packet), the
first packet's time on the server's link, and all segments with 40 bytes of headers each at the rate
that the other traffic leaves. A remedy *keeps 90 %* where ideal / (mean completion of the blocks)
is at least 0.9. Runs are ended after {given_up} ideal times per block: they have kept no half.

![Shares of scenarios](ranking.png)
"""

CLOSING = """\
## What to make of it

- The ideal asks for more than absence of loss. It knows no slow start, which takes round trips that
  short blocks on long paths do not have. That is the same for all rows, and for no one's fault;
  the row "the best of all" is what can be had.
- The best of a group takes the best row in every scenario, as one who could choose for each. It is
  chosen afterwards among rows that differ by chance too, and so flatters a little.
- Where the buffer is full, the other traffic loses packets, and the read may use what it leaves.
  PLATO's labels throw out whatever has none, so that it profits most.
- The parameters are not tuned. `pac` takes the buffer for 80 KiB whatever it is, `batching` and
  `icat` are told it; `ccs`, `nccs`, `ocs`, `ia-tcp` know rate and round trip, but not that other
  traffic takes its part.
- Each share is one of scenarios drawn here, not of networks that exist; other ranges give other
  shares. The intervals are of the draw alone. All rows have the same scenarios, so that differences
  between rows are surer than overlapping intervals suggest.

The numbers behind the table are in `validation/reference/ranking/shares.csv`.
"""


def write(folder: Path, ranking: Ranking) -> list[str]:
    """Write page and picture; return the lines of the table."""
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
    "background_permille": "other traffic, of the client's link",
}


def table(ranking: Ranking) -> list[str]:
    """Return the table: a line per row, and the best of each group."""
    head = " | ".join(f"{100 * level:.0f} %" for level in LEVELS)
    lines = [f"| Scenarios [%] in which it keeps at least | {head} |", "| :-- |" + " --: |" * 3]
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
    """Describe where no row keeps 90 %, and which are faster than the ideal."""
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
        f"In parentheses Wilson's 95 % intervals. Nobody keeps 90 % in {nobody:.0f} % of the",
        "scenarios. Where the first windows of all servers together fill the path",
        f"({filled.sum()} scenarios), someone keeps it in {_text(full)} %; where they do not",
        f"({(~filled).sum()}), in {_text(short)} %: slow start needs round trips that the",
        f"ideal does not. In {above.sum()} scenarios some row is faster than the ideal, most",
        f"often `{label}` ({most}), by at most {faster:.0f} %.",
    ]
