"""`nstat` and `netstat -s`: the TCP counters of a host since it started.

Sources: nstat(8) prints the kernel's names of the counters (`TcpRetransSegs`), also as JSON.
netstat(8) prints sentences for some counters; for all others, the kernel's names and a colon.
Counters change nothing in a scenario; they show whether packets are lost at all.
"""

import json
import re

from incast import units
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import whole
from incast.errors import AdviceError

NAME = "nstat or netstat -s"
_NSTAT = re.compile(r"([A-Za-z0-9]{1,64})[ \t]+([0-9]{1,20})([ \t]+[0-9.]{1,30})?")
_NAMED = re.compile(r"([A-Za-z0-9]{1,64}): ([0-9]{1,20})")
_MOST = 2**64 - 1
_SENTENCES = {
    "segments sent out": "TcpOutSegs",
    "segments send out": "TcpOutSegs",
    "segments retransmitted": "TcpRetransSegs",
    "segments retransmited": "TcpRetransSegs",
    "other TCP timeouts": "TcpExtTCPTimeouts",
    "fast retransmits": "TcpExtTCPFastRetrans",
    "retransmits in slow start": "TcpExtTCPSlowStartRetrans",
    "SACK retransmits failed": "TcpExtTCPSackFailures",
    "packets pruned from receive queue because of socket buffer overrun": "TcpExtPruneCalled",
    "packets collapsed in receive queue due to low socket buffer": "TcpExtTCPRcvCollapsed",
}
"""Sentences that netstat prints after a number, and the kernel's names of the counters."""
_HEADS = {"Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt", "Sctp"}


def recognises(text: str) -> bool:
    """Return whether a file has a table of counters."""
    start = text.lstrip()
    first = start.partition("\n")[0].strip()
    return (
        first == "#kernel"
        or (start.startswith("{") and '"kernel"' in start[:100])
        or first.removesuffix(":") in _HEADS
        or (bool(_NSTAT.fullmatch(first)) and first.startswith(("Ip", "Tcp", "Udp", "Icmp")))
    )


def read(text: str, where: str) -> Taken:
    """Read the counters of a file.

    Raises
    ------
    AdviceError
        A line is not a counter. The message gives the number of the line.
    """
    start = text.lstrip()
    if start.startswith("{"):
        found = _of_json(text, where)
    elif start.partition(":")[0] in _HEADS:
        found = _of_netstat(text, where)
    else:
        found = _of_nstat(text, where)
    taken = Taken()
    taken.took += _sentences(found)
    return taken


def _of_json(text: str, where: str) -> dict[str, int]:
    try:
        table = json.loads(text)["kernel"]
        given = {str(name): whole(str(value), 0, _MOST) for name, value in table.items()}
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError):
        raise AdviceError(
            f"{where}: must be JSON as printed by nstat -j: a table of numbers"
        ) from None
    return {name: value for name, value in given.items() if value is not None}


def _of_nstat(text: str, where: str) -> dict[str, int]:
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = _NSTAT.fullmatch(line.strip())
        if parts is None:
            raise refused(where, number, f"{line.strip()[:40]!r} is not a counter with a number")
        found[parts[1]] = int(parts[2])
    return found


def _of_netstat(text: str, where: str) -> dict[str, int]:
    found: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words:
            continue
        if not line[0].isspace():
            table = words.removesuffix(":")
            if not words.endswith(":"):
                raise refused(
                    where, number, f"{words[:40]!r} is not the head of a table, such as Tcp:"
                )
            continue
        if parts := _NAMED.fullmatch(words):
            found[table + parts[1]] = int(parts[2])
            continue
        count, _, sentence = words.partition(" ")
        value = whole(count, 0, _MOST)
        if value is not None and sentence in _SENTENCES:
            name = _SENTENCES[sentence]
            found[name] = found.get(name, 0) + value
    return found


def _sentences(found: dict[str, int]) -> list[str]:
    """Return sentences on the losses that the counters show."""
    sent, again = found.get("TcpOutSegs"), found.get("TcpRetransSegs")
    sentences = []
    if again is not None:
        share = f" of {sent} ({units.percent(min(again / sent, 1))})" if sent else ""
        sentences.append(
            f"{units.plural(again, 'segment')}{share} sent again since the host started."
        )
    for name, what in _TOLD.items():
        if found.get(name):
            sentences.append(f"{what}: {found[name]} ({name}).")
    if not found.get("TcpExtTCPTimeouts") and "TcpRetransSegs" in found:
        sentences.append("No timeout is counted (TcpExtTCPTimeouts).")
    return sentences or ["There is no counter of TCP's losses."]


_TOLD = {
    "TcpExtTCPTimeouts": "Timeouts",
    "TcpExtTCPLossProbes": "Tail-loss probes",
    "TcpExtTCPFastRetrans": "Fast retransmissions",
    "TcpExtTCPSlowStartRetrans": "Retransmissions after a timeout",
    "TcpExtTCPLostRetransmit": "Retransmissions that were lost",
    "TcpExtTCPSynRetrans": "Repeated handshakes",
    "TcpExtTCPSpuriousRTOs": "Spurious timeouts",
    "TcpExtTCPBacklogDrop": "Packets that a busy socket of this host dropped",
    "TcpExtTCPRcvQDrop": "Packets that a full receive buffer of this host dropped",
    "TcpExtPruneCalled": "Times that a receive buffer of this host was full",
    "TcpExtTCPZeroWindowDrop": "Packets that arrived while a window of this host was closed",
    "TcpExtTCPToZeroWindowAdv": "Times that this host closed its window",
    "TcpExtListenOverflows": "Connections refused because a queue of listen() was full",
    "IpExtInCEPkts": "Packets that arrived with a congestion mark",
}
"""Counters that show where packets are lost, and the meaning of each counter."""
