"""Find the connections of a host that belong to its read; notes name all other connections."""

import ipaddress
from collections.abc import Callable
from statistics import median_low

from incast import units
from incast.advise.readers.socket_lines import Socket
from incast.advise.readers.words import listed

_SSH = {"22", "ssh"}
_EPHEMERAL = 32_768  # the first port that Linux gives to a client (ip_local_port_range)
_APART = 50  # a round trip that differs from the median by this factor is not of the read


def of_the_read(sockets: list[Socket]) -> tuple[list[Socket], list[str]]:
    """Return the connections that may belong to one read, and sentences on those left out."""
    told: list[str] = []
    left = sockets

    def without(is_other: Callable[[Socket], bool], what: str, why: str = "") -> None:
        nonlocal left
        others = [one for one in left if is_other(one)]
        if others:
            left = [one for one in left if not is_other(one)]
            hosts = listed([one.peer for one in others])
            told.append(f"Left out: {units.plural(len(others), what)}{why} ({hosts}).")

    own = {one.local for one in sockets}
    without(
        lambda one: _is_loopback(one.peer) or one.peer in own,
        "connection",
        " of this host with itself",
    )
    without(lambda one: not _SSH.isdisjoint({one.local_port, one.peer_port}), "SSH connection")
    if not all(map(_came_in, left)):
        without(_came_in, "connection", " that another host opened")
    side, ports = _usual_ports(left)
    if ports:
        said = f" whose port is not the usual {listed(sorted(ports))}"
        without(lambda one: getattr(one, side) not in ports, "connection", said)
    trips = [trip for one in left if (trip := round_trip(one))]
    if trips:
        usual = median_low(trips)
        said = f" whose round trip is far from the usual {units.time(usual)}"
        without(lambda one: _is_apart(round_trip(one), usual), "connection", said)
    return left, told


def round_trip(one: Socket) -> float:
    """Return the shortest round trip of a connection in seconds, or 0 if it is unknown."""
    return (one.fields.get("minrtt") or one.fields.get("rtt") or 0.0) / 1e3


def _is_apart(trip: float, usual: float) -> bool:
    return trip > 0 and not usual / _APART < trip < usual * _APART


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.startswith("localhost")


def _came_in(one: Socket) -> bool:
    """Return whether the peer probably opened the connection: only the peer's port is ephemeral."""
    return _is_of_client(one.peer_port) and not _is_of_client(one.local_port)


def _is_of_client(port: str) -> bool:
    return port.isascii() and port.isdigit() and int(port) >= _EPHEMERAL


def _usual_ports(sockets: list[Socket]) -> tuple[str, set[str]]:
    """Return the usual ports, and the end of the connections that has them.

    A port is usual if connections to more than half of the peers have it at the same end. The end
    is `peer_port` or `local_port`, and is returned first. Both results are empty if no port is
    usual, or if there is only one peer.
    """
    hosts = {one.peer for one in sockets}
    for side in ("peer_port", "local_port"):
        of: dict[str, set[str]] = {}
        for one in sockets:
            of.setdefault(getattr(one, side), set()).add(one.peer)
        usual = {port for port, its in of.items() if 2 * len(its) > len(hosts) > 1}
        if usual:
            return side, usual
    return "", set()
