"""Verdicts, page and picture of the live comparison with ns-2."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from validation.common.judge import Verdict
from validation.common.page import figure, table, verdicts
from validation.transports.live import AGENTS, SECONDS, SEEDS, VEGAS_SEEDS, Pair

if TYPE_CHECKING:
    from pathlib import Path

FEW = 0.4
"""Share of stalled blocks below which the median block has no timeout."""

OPENING = f"""# Against ns-2, transport by transport

Written by `make validate`; do not edit. Debian's `ns` (ns-2.35) and this simulator ran the same
barrier-synchronised read in the same command: 1 Gbps links of 50 us, 1024-byte segments,
persistent connections, a random send delay of 8 us, {SECONDS} s, {SEEDS} seeds ({VEGAS_SEEDS} for
Vegas); `profile = "ns2"` with `transport.name` as given, on both sides with random numbers of
their own.
ns-2's agents are `Agent/TCP`, `Reno`, `Newreno`, `Sack1` (with `TCPSink/Sack1`) and `Vegas`.
"""

HABITS = """
## What had to be found out

Tahoe, Reno, NewReno
: Nothing but what [the profile](../reference/ns2.md) knew.

SACK
: ns-2's `Sack1` is not RFC 6675: what is lost stays in the pipe, and a timeout forgets what has
  arrived. RFC 6675 has a tenth to two fifths of its timeouts with eight senders: the median |ln
  goodput ratio| of the collapsed points is 0.51 with it and 0.02 with
  [`sack1`](../reference/recovery.md), which the profile `ns2` takes for `sack`.

Vegas
: Its agent sends packets without headers (1024 bytes instead of 1064), a fast retransmit doubles
  the coarse timeout (a lost retransmission then costs 400 ms), and the first two packets travel
  alone, so that the base round trip is one of an empty path. All three are in the profile.

## What is ns-2's mistake and not copied

A sender of Vegas may be left with a window of nothing. `VegasTcpAgent::timeout` sets `v_newcwnd_`
to 0; if duplicate ACKs then inflate the window without a reduction of their own, the next new ACK
sets the window to `v_newcwnd_`. Nothing is outstanding, so no timer wakes it: the block never ends,
and the run stands still until its time is over. Runs with such a sender are left out.
Points where most runs have one are flagged and not judged: what is left are runs, or beginnings of
runs, that were lucky.

Vegas runs well until chance makes a block stall, and then stalls in every block. Where that may or
may not happen within the time (64 packets and 16 senders: five of six seeds of ns-2, all of ours),
a mean says little.
"""


def judge(pairs: list[Pair]) -> list[Verdict]:
    """Hold every transport against the two bars."""
    found = []
    for transport in AGENTS:
        judged = [it for it in pairs if it.case.transport == transport and not it.flagged]
        few = [it for it in judged if it.ns2.stalled < FEW]
        rest = [abs(it.log_ratio) for it in judged if it.ns2.stalled >= FEW]
        worst = max((abs(it.p50_error) for it in few), default=0.0)
        misses = tuple(
            f"{it.case.star}, N={it.case.servers}: {it.p50_error:+.3f}"
            for it in few
            if abs(it.p50_error) > 0.03
        )
        bar = f"{transport}: median block time within 3 % where fewer than 40 % of blocks stall"
        found.append(Verdict(bar, f"{len(few)} points; worst {worst:.3f}", misses, not misses))
        median = statistics.median(rest) if rest else 0.0
        bar = f"{transport}: median |ln goodput ratio| of the rest at most 0.15"
        found.append(Verdict(bar, f"{median:.3f} over {len(rest)} points", (), median <= 0.15))
    return found


def write(folder: Path, pairs: list[Pair], found: list[Verdict]) -> None:
    """Write `ns2-transports.md` and its picture into the folder."""
    curves = {}
    for it in pairs:
        name = f"{it.case.transport}: {it.case.star}"
        curves.setdefault(name, []).append(
            (it.case.servers, it.ns2.goodput, it.here.goodput, it.flagged)
        )
    figure(folder / "ns2-transports.png", curves, "ns-2", columns=3)
    lines = [OPENING, *verdicts(found), "", "![Goodput](ns2-transports.png)", ""]
    lines += ["Hollow points are those where a sender of ns-2 hung in most runs.", HABITS]
    for transport in AGENTS:
        rows = [
            (
                it.case.star,
                it.case.servers,
                f"{it.ns2.goodput:.1f}",
                f"{it.here.goodput:.1f}",
                f"{it.ns2.timeouts:.2f}",
                f"{it.here.timeouts:.2f}",
                f"{it.ns2.p50:.2f}",
                f"{it.here.p50:.2f}",
                f"{it.ns2.hung} of {it.ns2.runs} runs hung" if it.ns2.hung else "",
            )
            for it in pairs
            if it.case.transport == transport
        ]
        lines += ["", f"## {transport}", ""]
        lines += table(
            "star",
            ("goodput, Mbps", "timeouts per block", "median block time, ms"),
            "ns-2",
            rows,
        )
    (folder / "ns2-transports.md").write_text("\n".join(lines) + "\n")
