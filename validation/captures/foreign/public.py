"""Six captures that resemble public captures, in which incast was once reported by mistake.

Each capture is written packet by packet, with addresses of RFC 5737. No packet is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.captures.foreign.packet import ACK, PSH, SYN, Packet, options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENT = "192.0.2.10"
_MSS = 1460
_STEP = 1.3e-5  # seconds between segments of an answer
_SOON = 1e-4  # seconds until an answer is acknowledged


class _Host:
    """A host with a counter of packets; objects with the same address have separate counters."""

    def __init__(self, address: str, number: int = 0x1000) -> None:
        self.address, self.number = address, number

    def next(self) -> int:
        self.number += 1
        return self.number


class _Talk:
    """A connection: the next sequence number of each end, and the packets so far."""

    def __init__(
        self, ends: tuple[_Host, _Host], ports: tuple[int, int], windows: tuple[int, int]
    ) -> None:
        self.ends, self.ports, self.windows = ends, ports, windows
        self.sent = [1000, 5000]
        self.packets: list[Packet] = []
        self.stamped = False

    def open(self, time: float, trip: float, *, stamped: bool = False) -> None:
        """Write the handshake."""
        self.stamped = stamped
        for by, at, flags in ((0, time, SYN), (1, time + trip, SYN | ACK)):
            self.add(at, by, flags=flags, window=64240)
            self.sent[by] += 1
        self.add(time + trip + 1e-5, 0)

    def add(
        self,
        time: float,
        by: int,
        size: int = 0,
        *,
        flags: int = ACK,
        window: int | None = None,
        back: int = 0,
    ) -> None:
        """Write a packet; its sequence number is `back` below the next sequence number."""
        stamps = None
        if self.stamped:
            now = 1_000_000 + round(1000 * time)
            stamps = (now, now if flags & ACK else 0)
        syn = flags & SYN > 0
        told = options(mss=_MSS * syn, sack_permitted=syn, timestamps=stamps)
        self.packets.append(
            Packet(
                time,
                self.ends[by].address,
                self.ends[1 - by].address,
                (self.ports[by], self.ports[1 - by]),
                self.sent[by] - back,
                self.sent[1 - by] if flags & ACK else 0,
                flags,
                self.windows[by] if window is None else window,
                size,
                told,
                self.ends[by].next(),
            )
        )
        if not back:
            self.sent[by] += size


def _in_order(talks: list[_Talk]) -> list[Packet]:
    return sorted((one for talk in talks for one in talk.packets), key=lambda one: one.time)


def global_ipid() -> list[Packet]:
    """Four connections of a client to a file server; a host has one counter for all connections.

    First, each connection moves data alone. Then the client sends a request on each connection, and
    the server answers the requests one by one, after 20 to 120 ms of work.
    """
    ends = (_Host(CLIENT), _Host("192.0.2.20"))
    talks = [_Talk(ends, (50000 + k, 445), (64240, 64240)) for k in range(4)]
    for k, talk in enumerate(talks):
        talk.open(k * 1e-3, 2e-4)
    todo = [*_alone(), *_together()]
    for time, k, by, size, flags in sorted(todo, key=lambda one: one[0]):
        talks[k].add(time, by, size, flags=flags)
    return _in_order(talks)


def _alone() -> Iterator[tuple[float, int, int, int, int]]:
    for k in range(4):
        for number in range(10):
            time = 0.05 + 0.02 * k + 0.002 * number
            yield time, k, 0, 120, ACK | PSH
            for j in range(4):
                yield time + 2e-4 + j * _STEP, k, 1, _MSS, ACK | (PSH if j == 3 else 0)
            yield time + 3e-4, k, 0, 0, ACK


def _together() -> Iterator[tuple[float, int, int, int, int]]:
    for number in range(8):
        for k in range(4):
            time, work = 0.13 + 0.15 * number + k * 2e-5, 0.02 + 0.025 * ((k + number) % 4)
            yield time, k, 0, 120, ACK | PSH
            yield time + 2e-4, k, 1, 0, ACK
            for j in range(3):
                yield time + work + j * _STEP, k, 1, _MSS, ACK | (PSH if j == 2 else 0)
            yield time + work + _SOON, k, 0, 0, ACK


def greeting() -> list[Packet]:
    """Six FTP sessions at once; the server sends first, 210 ms after the handshake."""
    ends, talks = (_Host(CLIENT), _Host("198.51.100.21")), []
    for k in range(6):
        talk = _Talk(ends, (40000 + k, 21), (64240, 64240))
        talk.open(k * 0.002, 0.01)
        talks.append(talk)
    for k, talk in enumerate(talks):
        time = k * 0.005 + 0.22
        talk.add(time, 1, 17, flags=ACK | PSH)
        talk.add(time + 1e-3, 0, 12, flags=ACK | PSH)
        talk.add(time + 0.011, 1, 34, flags=ACK | PSH)
        talk.add(time + 0.0111, 0)
    return _in_order(talks)


def slow_rpc() -> list[Packet]:
    """Nine connections with RPCs: each request's ACK comes soon, its answer 100 to 600 ms later.

    Each connection has a separate counter, and the time stamp of an answer is the time at which it
    was sent.
    """
    talks = []
    for k in range(9):
        ends = (_Host(CLIENT, 0x7000 + 0x211 * k), _Host("192.0.2.42", 0x2000 + 0x333 * k))
        talk = _Talk(ends, (30000 + k, 80), (502, 509))
        time = k * 1e-5
        talk.open(time, 1e-4, stamped=True)
        time += 2e-3
        for number in range(3):
            talk.add(time, 0, 160, flags=ACK | PSH)
            talk.add(time + 1e-4, 1)
            work = 0.1 + 0.05 * ((k * 3 + number * 5) % 11)
            talk.add(time + work, 1, 185, flags=ACK | PSH)
            talk.add(time + work + 1e-5, 0)
            time += work + 2e-3
        talks.append(talk)
    return _in_order(talks)


def filtered() -> list[Packet]:
    """The output of a display filter: no SYN, no ACK without data, half of the segments."""
    talks = []
    for k in range(3):
        ends = (_Host(CLIENT, 0x4000 + 0x100 * k), _Host(f"198.51.100.{10 + k}", 0x100 * (k + 1)))
        talk = _Talk(ends, (40000 + k, 443), (64240, 64240))
        time = k * 2e-4
        for number in range(6):
            talk.add(time, 0, 517, flags=ACK | PSH)
            time += 0.05 + 0.11 * ((k + 2 * number) % 6)
            for j in range(8):
                talk.add(time + j * 2e-5, 1, _MSS, flags=ACK | PSH)
                if j % 2:
                    talk.packets.pop()
            ends[0].number += 4
            time += 0.03
        talks.append(talk)
    return _in_order(talks)


def small_window() -> list[Packet]:
    """A printer whose window is below a segment two times, for 1.2 s each; then new data follow.

    The sender's counter also numbers packets of other connections, which are not in the file.
    """
    ends = (_Host("192.0.2.8"), _Host("192.0.2.253"))
    talk = _Talk(ends, (3527, 9100), (65535, 64240))
    talk.open(0.0, 2e-4)
    time = 0.01
    for number in range(10):
        for j in range(3):
            talk.add(time + j * 1e-5, 0, _MSS)
        time += 0.07
        talk.sent[0] -= _MSS  # the packet acknowledges two of the three segments
        talk.add(time, 1, window=5200 - (number % 4) * 400)
        talk.sent[0] += _MSS
        if number % 4 == 3:
            time += 0.2
            talk.add(time, 1, window=628)
            ends[0].number += 17
            time += 1.2
            talk.add(time, 1, window=4724)
        time += 5e-5
    return talk.packets


def zero_end() -> list[Packet]:
    """A receiver closes its window and never opens it; the last of three probes is 23.7 s later."""
    talk = _Talk((_Host(CLIENT), _Host("198.51.100.80")), (38760, 80), (64240, 108))
    talk.open(0.0, 1e-4)
    talk.add(0.01, 0, 300, flags=ACK | PSH)
    for j in range(4):
        talk.add(0.02 + j * 2e-5, 1, 1344, flags=ACK | PSH)
    talk.add(0.0203, 0, window=0)
    for time in (3.43, 10.21, 23.75):
        talk.add(time, 1, back=1)
        talk.add(time + 3e-5, 0, window=0)
    return talk.packets


CAPTURES: dict[str, Callable[[], list[Packet]]] = {
    "global_ipid": global_ipid,
    "greeting": greeting,
    "slow_rpc": slow_rpc,
    "filtered": filtered,
    "small_window": small_window,
    "zero_end": zero_end,
}
