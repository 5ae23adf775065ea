"""The small TCP of the foreign corpus: its timers, its retransmissions, its windows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from validation.captures.foreign import services, troubles
from validation.captures.foreign.end import End
from validation.captures.foreign.hosts import Hosts
from validation.captures.foreign.network import Loss, Network
from validation.captures.foreign.numbering import Nat, numbered
from validation.captures.foreign.packet import SYN, Packet, blocks_of
from validation.captures.foreign.stacks import (
    BEHIND_NAT,
    LINUX,
    OUTSIDE,
    PER_CONNECTION,
    PER_HOST,
    Stack,
)

if TYPE_CHECKING:
    from validation.captures.foreign.network import Process

_SIZE = 100_000


def _pull(network: Network, stack: Stack = LINUX, size: int = _SIZE) -> tuple[End, End]:
    """Let the client read some bytes from a server."""
    hosts = Hosts(network, stack, stack)

    def client(end: End) -> Process:
        yield end, 0
        end.send(100)

    def server(end: End) -> Process:
        yield end, 100
        end.send(size)

    hosts.connect(0, 80)
    hosts.run(client, server)
    network.run()
    return hosts.pairs[0]


def _network(*takes: Loss) -> Network:
    network = Network(Random(1), trip=1e-3)
    network.losses += takes
    return network


def _nth(*numbers: int) -> Loss:
    """Return a rule that drops the data packets with these numbers, counted from 0."""
    seen = iter(range(1 << 30))
    return Loss("nth", lambda packet, _: packet.length > 1000 and next(seen) in numbers)


def test_what_is_not_lost_is_sent_once() -> None:
    client, server = _pull(_network())
    assert client.got == _SIZE
    assert (server.repeats, server.timeouts, client.repeats) == (0, [], 0)


@pytest.mark.parametrize("selective", [False, True])
def test_a_lost_segment_is_repaired_without_a_timer(selective: bool) -> None:
    client, server = _pull(_network(_nth(3)), replace(LINUX, selective=selective))
    assert (client.got, server.repeats, server.timeouts) == (_SIZE, 1, [])


def test_a_lost_tail_waits_for_the_timer() -> None:
    network = _network(_nth(68))
    client, server = _pull(network)
    assert (client.got, server.repeats) == (_SIZE, 1)
    (at,) = server.timeouts
    sent = [one.time for one in network.seen["switch"] if one.source == server.way[0]]
    before = max(time for time in sent if time < at)
    assert 0.19 < at - before < 0.25


def test_timers_double() -> None:
    network = _network(Loss("all", lambda packet, now: packet.length > 1000 and now < 3.0))
    client, server = _pull(network)
    assert client.got == _SIZE
    gaps = [after - before for before, after in pairwise(server.timeouts)]
    assert len(gaps) >= 2
    assert all(after == pytest.approx(2 * before) for before, after in pairwise(gaps))


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("selective", [False, True])
def test_all_arrives_whatever_is_lost(share: float, selective: bool) -> None:
    random = Random(share)
    network = _network(Loss("random", lambda _packet, _now: random.random() < share))
    client, _ = _pull(network, replace(LINUX, selective=selective))
    assert client.got == _SIZE


def test_a_lost_syn_is_sent_again_after_a_second() -> None:
    first = iter((True,))
    network = _network(Loss("syn", lambda packet, _: packet.flags == SYN and next(first, False)))
    client, _ = _pull(network)
    assert client.got == _SIZE
    syns = [one.time for one in network.seen["switch"] if one.flags == SYN]
    assert syns[1] - syns[0] == pytest.approx(1.0, abs=1e-3)


def test_nothing_is_sent_beyond_the_window() -> None:
    network = _network()
    _pull(network, replace(LINUX, window=5000))
    edge, server = 0, network.seen["switch"]
    for one in server:
        if one.ports[1] == 80:
            edge = max(edge, one.ack + one.window)
        elif one.length:
            assert one.end <= edge


def test_holes_are_told_by_blocks() -> None:
    network = _network(_nth(3))
    _pull(network)
    told = [block for one in network.seen["switch"] for block in blocks_of(one)]
    assert told
    _pull(without := _network(_nth(3)), replace(LINUX, selective=False))
    assert not [block for one in without.seen["switch"] for block in blocks_of(one)]


def test_an_outage_has_data_sent_twice() -> None:
    network = Network(Random(4), trip=1e-3)
    hosts = Hosts(network, LINUX, LINUX)
    troubles.outage(hosts)
    network.run()
    assert network.lost["outage"] > 0
    assert all(server.timeouts for _, server in hosts.pairs)


def test_a_host_has_one_counter_and_a_nat_one_for_all() -> None:
    for policy, key in ((PER_HOST, lambda one: one.source), (BEHIND_NAT, lambda _: "all")):
        network = Network(Random(2), trip=1e-3)
        hosts = Hosts(network, replace(LINUX, numbering=policy), replace(LINUX, numbering=policy))
        services.multichannel(hosts)
        services.reads(hosts)
        network.run()
        servers = [one for one in network.seen["switch"] if one.source != hosts.reader]
        by_counter: dict[str, list[int]] = {}
        for one in servers:
            if one.flags != SYN | 16:
                by_counter.setdefault(key(one), []).append(one.identification)
        for numbers in by_counter.values():
            steps = [(after - before) & 0xFFFF for before, after in pairwise(sorted(set(numbers)))]
            assert len(set(numbers)) == len(numbers)
            assert sum(step != 1 for step in steps) <= 1, "but where the counter wraps"


def test_the_simulators_packets_are_numbered_as_they_enter_the_switch() -> None:
    every = [
        Packet(at, f"10.0.0.{2 + at % 2}", "10.0.0.1", (80, 9), 1, 1, 16, 1, 1, b"", 500 + at)
        for at in range(10)
    ]
    lost = [one for at, one in enumerate(every) if at != 4]
    random = Random(3)
    assert numbered(lost, every, PER_CONNECTION, "10.0.0.1", random) == lost
    shared = numbered(lost, every, BEHIND_NAT, "10.0.0.1", random)
    steps = [b.identification - a.identification for a, b in pairwise(shared)]
    assert [step & 0xFFFF for step in steps] == [1, 1, 1, 2, 1, 1, 1, 1], "one of ten is missing"
    busy = numbered(every, every, OUTSIDE, "10.0.0.1", random)
    assert len({one.identification for one in busy}) == 10
    ports = {one.ports[0] for one in Nat("10.0.0.1").rewritten(lost)}
    assert len(ports) == 2
