"""Changes of captures: files that lack packets, have them twice, or have a wrong clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from validation.captures.foreign.packet import PSH, SYN

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from validation.captures.foreign.packet import Packet

    Way = tuple[str, int, str, int]
    Change = Callable[[list[Packet], Random], list[Packet]]


def filtered(packets: list[Packet], random: Random) -> list[Packet]:
    """Keep parts of the data, like a display filter for an application's protocol."""
    share = random.uniform(0.25, 0.6)
    last = {(one.way, one.end) for one in packets if one.flags & PSH}
    return [
        one
        for one in packets
        if one.length and ((one.way, one.end) in last or random.random() < share)
    ]


def one_direction(packets: list[Packet], random: Random) -> list[Packet]:
    """Keep only the servers' packets, or only the client's packets."""
    servers = random.random() < 0.7
    return [one for one in packets if (one.ports[0] < one.ports[1]) == servers]


def data_only(packets: list[Packet], _: Random) -> list[Packet]:
    """Keep only packets with data (`tcp.len > 0`)."""
    return [one for one in packets if one.length]


def syn_only(packets: list[Packet], _: Random) -> list[Packet]:
    """Keep only packets with SYN."""
    return [one for one in packets if one.flags & SYN]


def mirrored(packets: list[Packet], random: Random) -> list[Packet]:
    """Repeat each packet, as a mirror of both directions of a port does."""
    later = random.choice((2e-6, 1e-5, 5e-5))
    hop, tag = random.choice(((0, 0), (1, 0), (0, 12)))
    copies = [replace(one, time=one.time + later, ttl=one.ttl - hop, tag=tag) for one in packets]
    return sorted([*packets, *copies], key=lambda one: one.time)


def on_two_devices(packets: list[Packet], random: Random) -> list[Packet]:
    """Repeat each packet on a second device, as a capture at `any` on a bridge does."""
    later = random.choice((1e-6, 4e-6, 2e-5))
    copies = [replace(one, time=one.time + later, interface=2) for one in packets]
    return sorted([*packets, *copies], key=lambda one: one.time)


def appended(packets: list[Packet], _: Random) -> list[Packet]:
    """Append a copy of the file."""
    return packets + packets


def clock_back(packets: list[Packet], random: Random) -> list[Packet]:
    """Set the clock back once, by 10 ms to 2 s."""
    at = random.randint(len(packets) // 3, 2 * len(packets) // 3)
    back = random.choice((random.uniform(0.01, 0.1), random.uniform(0.1, 2.0)))
    start = 2.0  # a later start, so that no time is negative
    later = start - back - (packets[at].time - packets[at - 1].time)
    return [
        replace(one, time=one.time + (later if number >= at else start))
        for number, one in enumerate(packets)
    ]


def drops(packets: list[Packet], random: Random) -> list[Packet]:
    """Remove random packets."""
    share = random.choice((0.02, 0.05, 0.1))
    return [one for one in packets if random.random() >= share]


def bursts_of_drops(packets: list[Packet], random: Random) -> list[Packet]:
    """Remove bursts of packets, as tcpdump does when its buffer is full."""
    kept, left = [], 0
    once = random.randrange(len(packets))
    for number, one in enumerate(packets):
        if left == 0 and (number == once or random.random() < 0.003):
            left = random.randint(5, 60)
        if left:
            left -= 1
        else:
            kept.append(one)
    return kept


CHANGES: dict[str, Change] = {
    "filtered": filtered,
    "one-direction": one_direction,
    "data-only": data_only,
    "syn-only": syn_only,
    "mirrored": mirrored,
    "two-devices": on_two_devices,
    "appended": appended,
    "clock-back": clock_back,
    "drops": drops,
    "bursts-of-drops": bursts_of_drops,
}
NAMES = {
    "filtered": "filtered",
    "one-direction": "one_direction",
    "data-only": "data_only",
    "syn-only": "syn_only",
    "mirrored": "duplicated",
    "two-devices": "duplicated",
    "appended": "duplicated",
    "clock-back": "clock_back",
    "drops": "capture_drops",
    "bursts-of-drops": "capture_drops",
}
"""The defect that a report should name, for each change."""
WHOLE = ("mirrored", "two-devices", "appended", "clock-back")
"""Changes that remove no packet."""


def shown(packets: list[Packet], kept: list[Packet]) -> bool:
    """Return whether the kept packets acknowledge data that are missing in the file."""
    acknowledged: dict[Way, int] = {}
    for one in kept:
        acknowledged[one.back] = max(acknowledged.get(one.back, 0), one.ack)
    have = {(one.way, one.seq) for one in kept if one.length}
    return any(
        one.length and (one.way, one.seq) not in have and acknowledged.get(one.way, 0) >= one.end
        for one in packets
    )
