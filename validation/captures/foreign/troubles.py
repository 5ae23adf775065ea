"""Causes of losses other than incast. Each function adds losses and applications to the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.captures.foreign.network import Loss
from validation.captures.foreign.packet import ACK

if TYPE_CHECKING:
    from validation.captures.foreign.end import End
    from validation.captures.foreign.hosts import Hosts
    from validation.captures.foreign.network import Process
    from validation.captures.foreign.packet import Packet

_HEADERS = 54


def _pull(hosts: Hosts, server: int, sizes: list[int], think: float) -> None:
    """Request blocks from a server, one after the other."""

    def client(end: End) -> Process:
        yield end, 0
        for number, _ in enumerate(sizes, 1):
            end.send(120)
            yield end, sum(sizes[:number])
            yield think

    def answers(end: End) -> Process:
        for number, size in enumerate(sizes, 1):
            yield end, 120 * number
            yield 2e-5
            end.send(size)

    hosts.connect(server, 8500)
    hosts.run(client, answers)


def _reads(hosts: Hosts, servers: int, size: int, blocks: int, think: float) -> None:
    for number in range(servers):
        _pull(hosts, number, [size] * blocks, think)


def bad_link(hosts: Hosts) -> None:
    """The client's link loses random data packets."""
    network, random = hosts.network, hosts.network.random
    share = random.choice((0.003, 0.01, 0.02))
    network.losses.append(
        Loss("bad_link", lambda packet, _: packet.length > 0 and random.random() < share)
    )
    servers = random.choice((1, 3, 6, 12))
    _reads(hosts, servers, random.choice((60_000, 150_000)), 4 + 12 // servers, 0.02)


def policer(hosts: Hosts) -> None:
    """A policer at one server's port: a token bucket that drops packets above its rate."""
    servers = hosts.network.random.randint(4, 10)
    _police(hosts, {hosts.server(0)})
    _reads(hosts, servers, hosts.network.random.choice((150_000, 300_000)), 3, 0.05)


def policer_for_all(hosts: Hosts) -> None:
    """A policer with one token bucket for all packets to the client."""
    random = hosts.network.random
    servers = random.choice((1, 1, 2, 4))
    _police(hosts, {hosts.server(number) for number in range(servers)})
    _reads(hosts, servers, 250_000, 2, 0.1)


def _police(hosts: Hosts, senders: set[str]) -> None:
    network, random = hosts.network, hosts.network.random
    rate = random.choice((10e6, 20e6, 50e6)) / 8
    depth = random.choice((16_000, 32_000, 64_000))
    state = [float(depth), network.now]

    def takes(packet: Packet, now: float) -> bool:
        if packet.source not in senders:
            return False
        state[:] = [min(depth, state[0] + (now - state[1]) * rate), now]
        if packet.length + _HEADERS > state[0]:
            return True
        state[0] -= packet.length + _HEADERS
        return False

    network.losses.append(Loss("policer", takes))


def mtu_black_hole(hosts: Hosts) -> None:
    """Large segments of one server are dropped without an error message; small segments pass."""
    network, random = hosts.network, hosts.network.random
    most, bad = random.choice((1280, 1400)), hosts.server(0)

    def takes(packet: Packet, _: float) -> bool:
        return packet.source == bad and packet.length + _HEADERS > most

    network.losses.append(Loss("mtu_black_hole", takes))
    for number in range(random.randint(3, 8)):
        small = random.randint(200, 1100)
        # The first answer is small and passes; the second is large and does not.
        sizes = [small, random.randint(8_000, 40_000), small]
        _pull(hosts, number, sizes if number == 0 else sizes * 4, random.uniform(0.1, 0.6))
    network.cut = network.now + random.uniform(4.0, 20.0)


def outage(hosts: Hosts) -> None:
    """All packets in both directions are dropped for 100 to 500 ms, in the middle of reads."""
    network, random = hosts.network, hosts.network.random
    network.rate = random.choice((2e7, 5e7, 1e8))
    servers, start = random.randint(3, 12), network.now + random.uniform(0.03, 0.1)
    end = start + random.uniform(0.1, 0.5)
    network.losses.append(Loss("outage", lambda _, now: start <= now < end))
    _reads(hosts, servers, random.choice((30_000, 60_000)), 400 // servers, 0.001)
    network.cut = end + random.uniform(0.3, 0.8)


def lost_acks(hosts: Hosts) -> None:
    """The path from the client loses random ACKs, and at intervals all ACKs for some time."""
    network, random = hosts.network, hosts.network.random
    share, gap = random.uniform(0.2, 0.6), random.uniform(0.1, 0.5)
    length = random.uniform(0.1, 0.5) * gap

    def takes(packet: Packet, now: float) -> bool:
        if packet.source != hosts.reader or packet.length or packet.flags != ACK:
            return False
        return now % gap < length or random.random() < share

    network.losses.append(Loss("lost_acks", takes))
    _reads(hosts, random.choice((1, 2, 4, 8)), random.choice((2_000, 6_000, 40_000)), 15, 0.03)


def path(hosts: Hosts) -> None:
    """The paths from some servers lose data packets; the paths from the other servers lose none."""
    network, random = hosts.network, hosts.network.random
    servers = random.choice((4, 8, 16))
    bad = {hosts.server(number) for number in range(max(1, servers // random.choice((3, 4))))}
    share = random.choice((0.03, 0.05, 0.08))

    def takes(packet: Packet, _: float) -> bool:
        return packet.source in bad and packet.length > 0 and random.random() < share

    network.losses.append(Loss("path", takes))
    _reads(hosts, servers, 80_000, 5, 0.01)


def host_drops(hosts: Hosts) -> None:
    """The client's receive ring overflows while the processor is busy, and drops all packets."""
    network, random = hosts.network, hosts.network.random
    network.rate = random.choice((1e8, 2e8))
    gap, length = random.uniform(0.05, 0.2), random.uniform(0.001, 0.008)
    phase = random.uniform(0, gap)

    def takes(packet: Packet, now: float) -> bool:
        return packet.target == hosts.reader and (now + phase) % gap < length

    network.losses.append(Loss("host_drops", takes, at_ring=True))
    _reads(hosts, random.choice((1, 2, 3, 6)), random.choice((150_000, 300_000)), 6, 0.001)
    network.cut = network.now + 2.0
