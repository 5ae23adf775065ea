"""`ss -tin` at the client: number of servers, round trip, timer and congestion control.

Source: ss(8). The kernel computes RTO = srtt + max(rttvar term, rto_min), so the smallest RTO minus
the round trip of the same connection is an upper bound of rto_min. Every timeout doubles the RTO,
up to 120 s.
"""

from collections import Counter
from statistics import median_low

from incast import units
from incast.advise.readers import socket_lines
from incast.advise.readers.peers import of_the_read, round_trip
from incast.advise.readers.socket_lines import Socket, recognises
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import CONTROLS, OTHER_CONTROLS, listed
from incast.errors import AdviceError

__all__ = ["NAME", "read", "recognises"]

NAME = "ss -tin"
_TICK = 0.02  # seconds that the variance term and timer ticks may add to an RTO
_USUAL = 0.2  # seconds, the kernel's rto_min
_LARGEST_RTO = 120.0  # seconds; an RTO is not doubled beyond this value
_MOST_SERVERS = 1_000_000  # the maximum in a scenario


def read(text: str, where: str) -> Taken:
    """Read the connections of a file.

    Raises
    ------
    AdviceError
        A line is not what `ss` prints, or no connection has details. The message gives the number
        of the line.
    """
    every = socket_lines.sockets(text, where)
    open_ones = [one for one in every if one.established]
    if not any(one.fields for one in open_ones):
        raise refused(where, 1, "no connection has details; use ss -tin")
    ours, told = of_the_read(open_ones)
    if not ours:
        raise AdviceError(f"{where}: no connection can belong to a read. {' '.join(told)}")
    taken = Taken()
    closing = len([one for one in every if not one.established and one.state != "LISTEN"])
    if closing:
        told.append(f"Left out: {units.plural(closing, 'connection')} not in the state ESTAB.")
    _servers(taken, ours)
    _path(taken, ours)
    _timer(taken, ours)
    _control(taken, ours)
    taken.took += told
    return taken


def _servers(taken: Taken, ours: list[Socket]) -> None:
    hosts = len({one.peer for one in ours})
    if not 1 < hosts <= _MOST_SERVERS:
        taken.took.append(
            f"{units.plural(len(ours), 'connection')} to {units.plural(hosts, 'host')}."
        )
        return
    taken.take(
        f"{units.plural(len(ours), 'connection')} to {hosts} hosts: {hosts} servers.",
        workload__servers=hosts,
    )
    taken.assumed.append("Every host with a connection answers each request.")


def _path(taken: Taken, ours: list[Socket]) -> None:
    shortest = min((trip for one in ours if (trip := round_trip(one))), default=0.0)
    if shortest:
        taken.take(
            f"The shortest round trip is {units.time(shortest)}.",
            network__base_rtt=f"{shortest * 1e9:.0f}ns",
            network__delay=None,
        )
        taken.assumed.append("The shortest round trip is that of the idle network.")
    sizes = [int(one.fields["mss"]) for one in ours if one.fields.get("mss", 0) >= 1]
    if sizes:
        usual = median_low(sizes)
        taken.take(f"MSS {usual} bytes.", transport__mss=usual)


def _timer(taken: Taken, ours: list[Socket]) -> None:
    """Derive the minimum RTO from the RTOs, after undoing the doublings by timeouts."""
    found: list[float] = []
    divided, passed = [], []
    for one in ours:
        if "rto" not in one.fields or "rtt" not in one.fields:
            continue
        rto, doublings = one.fields["rto"] / 1e3, int(one.fields.get("backoff", 0))
        if (doublings and rto >= _LARGEST_RTO) or (not doublings and one.repeated):
            passed.append(one.peer)
            continue
        if doublings:
            divided.append(one.peer)
        found.append(rto / 2**doublings - one.fields["rtt"] / 1e3)
    least = min((above for above in found if above > 0), default=0.0)
    if divided:
        taken.took.append(
            f"Timeouts have doubled some RTOs, which are divided accordingly ({listed(divided)})."
        )
    if passed:
        taken.took.append(
            f"RTOs are left out if the connection is retransmitting ({listed(passed)})."
        )
    if not 0 < least <= _LARGEST_RTO:
        return
    if abs(least - _USUAL) <= _TICK:
        least = _USUAL
    taken.take(
        f"The smallest RTO is {units.time(least)} above the round trip.",
        transport__rto_min=f"{max(least * 1e6, 1):.0f}us",
    )
    taken.assumed.append(f"rto_min is {units.time(least)} at the servers, too.")


def _control(taken: Taken, ours: list[Socket]) -> None:
    known = CONTROLS | OTHER_CONTROLS
    words = Counter(word for one in ours for word in one.words if word in known)
    if not words:
        return
    control = words.most_common(1)[0][0]
    if control not in CONTROLS:
        taken.took.append(f"Congestion control {control}, which is not simulated, is left out.")
        return
    taken.take(f"Congestion control {control}.", transport__congestion_control=control)
    taken.assumed.append("The servers use the same congestion control as this host.")
