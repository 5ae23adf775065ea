"""Verdicts, page and picture of the comparison of transports with ns-2."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from validation.common.judge import Verdict
from validation.common.page import figure, table, verdicts
from validation.transports.live import AGENTS, SECONDS, SEEDS, VEGAS_SEEDS, Pair

if TYPE_CHECKING:
    from pathlib import Path

FEW = 0.4
"""If the share of blocks with a timeout is below this, the median block has no timeout."""

OPENING = f"""# Comparison with ns-2, transport by transport

Written by `make validate`; do not edit. One command runs the same barrier-synchronised read in
Debian's `ns` (ns-2.35) and in this simulator. The read has 1 Gbps links of 50 us, 1024-byte
segments, persistent connections and a random send delay of up to 8 us. There are {SECONDS} s of
simulated time and {SEEDS} seeds ({VEGAS_SEEDS} for Vegas). In this simulator, the scenario has
`profile = "ns2"`, and its `transport.name` is in the title of each table below. The two simulators
draw different random numbers. ns-2's agents are `Agent/TCP`, `Reno`, `Newreno`, `Sack1` (with
`TCPSink/Sack1`) and `Vegas`.
"""

HABITS = """
## Behaviour of ns-2

Tahoe, Reno, NewReno
: There are no differences beyond those that [the profile](../reference/ns2.md) already covers. Two
  rules matter only at points that are not in the tables below: a lost SYN reduces ssthresh, and a
  timeout of Tahoe keeps the count of duplicate ACKs.

Reads beside a long flow
: If all links have the same rate, a long flow that fills its own link delivers its packets at the
  rate at which the port sends them. A random delay that is shorter than the transmission time of a
  packet hardly changes the phase of these packets. The time at which a block begins then decides
  whose packets the buffer admits (a phase effect). In ns-2, the next block begins with the last ACK
  of 40 bytes; here it begins with a request of 1 byte, which takes 6 us less over two links of 100
  Mbps. An example is a read of 5 servers with 11 segments each beside a long flow of Reno (100
  Mbps, 62 packets, RTOmin 20 ms). The read's goodput is 1.5 % higher here than in ns-2, and the
  long flow sends 4 % less. With requests of 40 bytes (`request_on_wire`), the goodput is 6 % lower
  than in ns-2, and the long flow sends 9 % more. The order of simultaneous events has no effect. If
  the servers' links are 3 % faster than the client's link, the goodput agrees within 0.3 %. On such
  links, two long flows of Reno without a read have 199 timeouts in 20 s here and 200 in ns-2; on
  equal links, they have 79 here and 172 in ns-2.

SACK
: ns-2's `Sack1` is not RFC 6675: lost segments still count as data in the network, and a timeout
  clears the record of received segments. With eight senders, RFC 6675 has a tenth to two fifths of
  the timeouts of `Sack1`. The median |ln goodput ratio| of the collapsed points is 0.51 with RFC
  6675 and 0.02 with [`sack1`](../reference/recovery.md), which the profile `ns2` uses for `sack`.

  With many servers, `Sack1` of ns-2 retransmits up to 4 % more packets than `sack1` here, and has
  up to 5 % more timeouts. After a timeout, the first two duplicate ACKs with new blocks each let
  ns-2 send one more segment (`send_one()`), although recovery cannot begin (`bug_fix_`); here, such
  duplicate ACKs do not let the sender send. ns-2's `overhead_` delays the retransmission after a
  timeout; here, the retransmission leaves at once. For a test, both rules were switched off in ns-2
  (`tcp-sack1.cc` compiled as another agent), and both simulators treated lost SYNs in the same way.
  Their timeouts and retransmissions then agreed within two standard errors at the four points that
  were tried. With `handshake = "syn-only"`, a lost SYN counts as two timeouts here, because the
  request is also repeated.

Vegas
: ns-2's agent sends packets without headers (1024 bytes instead of 1064). A fast retransmit doubles
  the coarse timeout, so a lost retransmission costs 400 ms. The first two packets are sent one at a
  time, so the base round trip is that of an empty path. The profile copies all three properties.

## Errors of ns-2 that are not copied

A Vegas sender may end with a window of zero. `VegasTcpAgent::timeout` sets `v_newcwnd_` to 0; if
duplicate ACKs then inflate the window without a reduction, the next new ACK sets the window to
`v_newcwnd_`. Nothing is outstanding, so no timer is running: the block never ends, and the run
makes no progress until its time is over. Runs with such a sender are excluded. Points where most
runs have such a sender are flagged and not judged, because the remaining runs and the beginnings of
the excluded runs are not representative.

Vegas has a high goodput until one block happens to stall, and then stalls in every block. At some
points, this may or may not happen within the simulated time. For example, with 64 packets and 16
senders it happens in five of six seeds of ns-2 and in all six seeds of this simulator. At such
points, a mean says little.
"""


def judge(pairs: list[Pair]) -> list[Verdict]:
    """Judge every transport by the two bars."""
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
        bar = f"{transport}: median |ln goodput ratio| of the other points at most 0.15"
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
    hollow = "At the hollow points of the picture, a sender of ns-2 hung in most runs (see below)."
    lines += [hollow, HABITS]
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
