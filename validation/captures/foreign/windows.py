"""Receivers that close their windows or keep them small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from validation.captures.foreign.network import Loss

if TYPE_CHECKING:
    from validation.captures.foreign.end import End
    from validation.captures.foreign.hosts import Hosts
    from validation.captures.foreign.network import Process


def _small(hosts: Hosts, rest: int, waits: list[float], *, to_end: bool = False) -> None:
    """Let a receiver stop reading once for each wait; its window then shrinks to `rest` bytes."""
    random = hosts.network.random
    upload = random.random() < 0.5
    receiver_stack = hosts.servers if upload else hosts.client
    capacity = (receiver_stack.mss - 12 * receiver_stack.timestamps) * random.randint(3, 8) + rest
    own = replace(receiver_stack, window=capacity)
    other = replace(
        hosts.client if upload else hosts.servers,
        probes=random.choice((0, None) if rest else (0, 1)),
    )
    total = capacity * (len(waits) + 1) * 6

    def sender(end: End) -> Process:
        yield end, 0 if upload else 100
        end.send(total)

    def receiver(end: End) -> Process:
        yield end, 0
        if not upload:
            end.send(100)
        for number, wait in enumerate(waits, 1):
            yield end, number * capacity * 4
            end.stop_reading()
            yield 0.01
            yield wait
            if to_end and number == len(waits):
                return
            end.read()

    hosts.connect(0, 9100, *((own, other) if upload else (other, own)))
    hosts.run(*((sender, receiver) if upload else (receiver, sender)))


def below_a_segment(hosts: Hosts) -> None:
    """A window of less than a segment for up to 2 s, after which new data arrive."""
    random = hosts.network.random
    longest = random.choice((random.uniform(0.02, 0.15), random.uniform(0.2, 2.0)))
    waits = [longest * random.uniform(0.3, 1.0) for _ in range(random.randint(0, 3))]
    _small(hosts, random.randint(100, 1000), [*waits, longest])


def closed(hosts: Hosts) -> None:
    """A window that is closed for about 10 ms to 3 s; long closures have probes."""
    random = hosts.network.random
    longest = random.choice((random.uniform(0.012, 0.15), random.uniform(0.2, 3.0)))
    _small(hosts, 0, [longest * 0.8, longest])


def closed_to_the_end(hosts: Hosts) -> None:
    """A window that closes and stays closed to the end of the capture."""
    network, random = hosts.network, hosts.network.random
    _small(hosts, 0, [random.uniform(0.01, 0.1), 1000.0], to_end=True)
    network.cut = network.now + random.uniform(3.0, 40.0)


def limited(hosts: Hosts) -> None:
    """A constant small window on a long path."""
    _limited(hosts, 0.0)


def limited_and_losses(hosts: Hosts) -> None:
    """A constant small window on a long path that sometimes loses a packet."""
    _limited(hosts, 0.004)


def _limited(hosts: Hosts, share: float) -> None:
    network, random = hosts.network, hosts.network.random
    size = random.choice((4, 6, 8)) * 1448
    if share:
        network.losses.append(
            Loss("bad_link", lambda packet, _: packet.length > 0 and random.random() < share)
        )

    def client(end: End) -> Process:
        yield end, 0
        end.send(100)

    def server(end: End) -> Process:
        yield end, 100
        end.send(300_000)

    for number in range(random.choice((1, 2, 4))):
        hosts.connect(number, 8500, client=replace(hosts.client, window=size))
        hosts.run(client, server)
