"""A small network for the small TCP: a star of links, causes of losses, and captures.

A host's link carries a packet to the switch. There the packet waits for the link to its target. It
is captured at its source, at the switch and at its target. Events happen in the order of time.
"""

from __future__ import annotations

import heapq
from collections import Counter as Counts
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from random import Random

    from validation.captures.foreign.end import End
    from validation.captures.foreign.packet import Packet

    Process = Generator[float | tuple[End, int], None, None]

_HEADERS = 54


@dataclass
class Loss:
    """A cause of losses: its name, and a function that returns whether a packet is lost."""

    name: str
    takes: Callable[[Packet, float], bool]
    at_ring: bool = False
    """Whether the receiving host drops the packets, after its link has carried them."""


@dataclass(order=True)
class Event:
    """An event at a time. If `do` is None, the event was cancelled."""

    time: float
    number: int
    do: Callable[[], None] | None = field(compare=False)


class Network:
    """Hosts around a switch.

    `trip` is the round trip without queues, and `cut` is the time at which the network stops.
    """

    def __init__(
        self, random: Random, *, rate: float = 1e9, trip: float = 1e-4, buffer: int = 1 << 24
    ) -> None:
        self.random, self.rate, self.hop, self.buffer = random, rate, trip / 4, buffer
        self.now, self.cut = 1.0, 600.0
        self.losses: list[Loss] = []
        self.lost = Counts[str]()
        self.ends: dict[tuple[str, int, str, int], End] = {}
        self.seen: dict[str, list[Packet]] = defaultdict(list)
        self._free: dict[tuple[str, str], float] = defaultdict(float)
        self._landed: dict[tuple[str, str], float] = defaultdict(float)
        self._jitter, self._work = 2e-6, random.uniform(2e-6, 2e-5)
        self._events: list[Event] = []
        self._numbers = count()

    def at(self, time: float, do: Callable[[], None]) -> Event:
        """Call `do` at a time; the returned event can be cancelled."""
        event = Event(max(time, self.now), next(self._numbers), do)
        heapq.heappush(self._events, event)
        return event

    def start(self, process: Process, after: float = 0.0) -> None:
        """Run a process; it yields a time to sleep, or an end and the bytes to wait for."""
        self.at(self.now + after, lambda: self._step(process))

    def run(self) -> None:
        """Run all events."""
        while self._events:
            event = heapq.heappop(self._events)
            if event.time > self.cut:
                return
            self.now = event.time
            if event.do is not None:
                event.do()

    def _step(self, process: Process) -> None:
        wanted = next(process, None)
        if wanted is None:
            return
        if isinstance(wanted, tuple):
            end, least = wanted
            end.wake(least, lambda: self._step(process))
        else:
            self.at(self.now + wanted, lambda: self._step(process))

    def send(self, packet: Packet) -> None:
        """Send a packet from its source over the source's link."""
        self._see(packet.source, packet, self.now)
        arrival = self._serve(("out", packet.source), packet, self.now)
        self.at(arrival, lambda: self._switch(packet))

    def _switch(self, packet: Packet) -> None:
        self._see("switch", packet, self.now)
        for loss in self.losses:
            if not loss.at_ring and loss.takes(packet, self.now):
                self.lost[loss.name] += 1
                return
        port = ("in", packet.target)
        waiting = max(0.0, self._free[port] - self.now) * self.rate / 8
        if waiting + packet.length + _HEADERS > self.buffer:
            self.lost["queue"] += 1
            return
        arrival = self._serve(port, packet, self.now)
        self.at(arrival, lambda: self._arrive(packet))

    def _arrive(self, packet: Packet) -> None:
        for loss in self.losses:
            if loss.at_ring and loss.takes(packet, self.now):
                self.lost[loss.name] += 1
                return
        self._see(packet.target, packet, self.now)
        end = self.ends.get(packet.back)
        if end is not None:
            self.at(self.now + self._work, lambda: end.take(packet))

    def _serve(self, port: tuple[str, str], packet: Packet, now: float) -> float:
        begin = max(now, self._free[port])
        self._free[port] = begin + 8 * (packet.length + _HEADERS) / self.rate
        jitter = self.random.random() * self._jitter
        # Packets on a link stay in order.
        self._landed[port] = max(self._free[port] + self.hop + jitter, self._landed[port])
        return self._landed[port]

    def _see(self, place: str, packet: Packet, now: float) -> None:
        self.seen[place].append(replace(packet, time=now))
