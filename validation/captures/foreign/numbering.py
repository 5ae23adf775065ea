"""Give the simulator's captures the identifications of other stacks, and other addresses.

The simulator counts the packets of each connection, so the count identifies a packet. A host's
counter numbers all packets of the host in the order in which they entered the switch, including
packets that are missing at the captured place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from validation.captures.foreign.packet import as_ipv6
from validation.captures.foreign.stacks import (
    BEHIND_NAT,
    PER_CONNECTION,
    RANDOM,
    VERSION_6,
    ZERO,
    Counter,
)

if TYPE_CHECKING:
    from random import Random

    from validation.captures.foreign.packet import Packet

NAT = "198.51.100.1"


def numbered(
    packets: list[Packet], every: list[Packet], policy: str, client: str, random: Random
) -> list[Packet]:
    """Return `packets` with the identifications of a policy; `every` has all packets in order."""
    if policy == PER_CONNECTION:
        return packets
    if policy == VERSION_6:
        return [
            replace(one, source=as_ipv6(one.source), target=as_ipv6(one.target)) for one in packets
        ]
    if policy in (RANDOM, ZERO):
        draw = Counter(random, policy)
        return [replace(one, identification=draw.next()) for one in packets]
    counts = _Counts(policy, client, random)
    for one in every:
        counts.of(one)
    return [replace(one, identification=counts.of(one)) for one in packets]


class _Counts:
    """The counters of all hosts, and the identification that each packet got."""

    def __init__(self, policy: str, client: str, random: Random) -> None:
        self.policy, self.client, self.random = policy, client, random
        self.busy = random.choice((0.05, 0.3, 0.8))
        self.counters: dict[str, Counter] = {}
        self.given: dict[tuple[object, int], int] = {}

    def of(self, packet: Packet) -> int:
        """Return the new identification of a packet; a packet without one gets the next number."""
        key = (packet.way, packet.identification)
        if key not in self.given:
            shared = self.policy == BEHIND_NAT and packet.source != self.client
            host = NAT if shared else packet.source
            if host not in self.counters:
                self.counters[host] = Counter(self.random, self.policy, self.busy)
            self.given[key] = self.counters[host].next()
        return self.given[key]


class Nat:
    """Gives all servers one address, and each of their ports a different outer port."""

    def __init__(self, client: str, address: str = NAT) -> None:
        self.client, self.address = client, address
        self.ports: dict[tuple[str, int], int] = {}

    def port(self, host: str, port: int) -> int:
        """Return the outer port for a port of a server."""
        return self.ports.setdefault((host, port), 8000 + len(self.ports))

    def rewritten(self, packets: list[Packet]) -> list[Packet]:
        """Return packets with their outer addresses."""
        return [self._one(packet) for packet in packets]

    def _one(self, packet: Packet) -> Packet:
        one, other = packet.ports
        if packet.source == self.client:
            ports = (one, self.port(packet.target, other))
            return replace(packet, target=self.address, ports=ports)
        ports = (self.port(packet.source, one), other)
        return replace(packet, source=self.address, ports=ports)
