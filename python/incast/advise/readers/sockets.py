"""`ss -tin` at the client: how many servers, the round trip, the timer, the congestion control.

A connection has two lines: state, queues and addresses, then what the kernel knows of it, indented.
Source: ss(8); the kernel computes RTO = srtt + max(rttvar term, rto_min), so the smallest RTO minus
its round trip bounds rto_min from above.
"""

import re
from collections import Counter
from statistics import median

from incast import units
from incast.advise.readers.taken import Taken, refused

NAME = "ss -tin"
_STATES = {
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSE-WAIT"),
    *("LAST-ACK", "CLOSING", "LISTEN", "UNCONN"),
}
_CONTROLS = {"cubic", "reno", "dctcp", "bbr", "vegas", "westwood", "bic"}
_FIELDS = re.compile(r"\b(rto|mss|minrtt|rtt|rcv_rtt):([\d.]+)")
_TICK = 0.02  # seconds by which an RTO may exceed its parts: variance and ticks


def recognises(text: str) -> bool:
    """Return whether a text is the output of `ss -tin`."""
    return bool(re.search(r"^\s+.*\brto:\d", text, re.MULTILINE))


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        A line is not what `ss -tin` prints. The message has its number.
    """
    peers, details = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(("State", "Netid")):
            continue
        if line[0].isspace():
            found = dict(_FIELDS.findall(line))
            if not found:
                raise refused(where, number, "has no field such as rto:, mss: or rtt:")
            details.append((found, line.split()))
            continue
        words = line.split()
        if words[0] in {"tcp", "tcp4", "tcp6"}:
            words = words[1:]
        if len(words) < 5 or words[0] not in _STATES:  # noqa: PLR2004 (state, queues, ends)
            raise refused(where, number, f"{words[0]!r} is not a state of a connection")
        if words[0] == "ESTAB":
            peers.append(words[4].rpartition(":")[0])
    if not details:
        raise refused(where, 1, "no connection has details; use ss -tin")
    return _taken(peers, details)


def _taken(peers: list[str], details: list[tuple[dict[str, str], list[str]]]) -> Taken:
    taken = Taken()
    hosts = len(set(peers))
    if hosts > 1:
        taken.take(
            f"{units.plural(len(peers), 'connection')} to {hosts} hosts: {hosts} servers.",
            workload__servers=hosts,
        )
        taken.assumed.append("Every host with a connection answers each request.")
    fields = [found for found, _ in details]
    trips = [float(one.get("minrtt") or one.get("rtt") or 0) / 1e3 for one in fields]
    shortest = min((trip for trip in trips if trip > 0), default=0.0)
    if shortest:
        taken.take(
            f"Shortest round trip {units.time(shortest)}.",
            network__base_rtt=f"{shortest * 1e9:.0f}ns",
            network__delay=None,
        )
        taken.assumed.append("The shortest round trip is that of the idle network.")
    if mss := [int(float(one["mss"])) for one in fields if "mss" in one]:
        taken.take(f"MSS {median(mss):.0f} bytes.", transport__mss=int(median(mss)))
    _timer(taken, fields)
    words = Counter(word for _, line in details for word in line if word in _CONTROLS)
    if words:
        control = words.most_common(1)[0][0]
        taken.take(f"Congestion control {control}.", transport__congestion_control=control)
        taken.assumed.append("The servers use the same congestion control as this host.")
    return taken


def _timer(taken: Taken, fields: list[dict[str, str]]) -> None:
    least = min(
        (
            float(one["rto"]) / 1e3 - float(one["rtt"]) / 1e3
            for one in fields
            if "rto" in one and "rtt" in one
        ),
        default=0.0,
    )
    if least <= 0:
        return
    if abs(least - 0.2) <= _TICK:
        least = 0.2
    taken.take(
        f"The smallest RTO is {units.time(least)} above its round trip.",
        transport__rto_min=f"{least * 1e6:.0f}us",
    )
    taken.assumed.append(f"rto_min is {units.time(least)}, at the servers as well.")
