"""One end of a TCP connection: a small but complete TCP.

An end has timers with backoff (RFC 6298), slow start and congestion avoidance, fast retransmit and
NewReno's recovery (RFC 6582). Recovery does not retransmit segments that a selective ACK reports.
An end also has delayed ACKs, Nagle's algorithm, windows that close, and probes of closed windows.
An end never shrinks a window that it has advertised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.captures.foreign.packet import ACK, FIN, PSH, SYN, Packet, blocks_of, options

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.captures.foreign.network import Event, Network
    from validation.captures.foreign.stacks import Counter, Stack

_LEAST, _MOST, _FIRST = 0.2, 60.0, 1.0  # retransmission timer in seconds: limits, and for a SYN
_DUPACKS = 3
_TICK = 1000  # timestamp clock ticks per second


class End:
    """One end: it sends a given number of bytes, and counts the bytes that it received."""

    def __init__(
        self,
        network: Network,
        stack: Stack,
        counter: Counter,
        way: tuple[str, int, str, int],
    ) -> None:
        self.network, self.stack, self.counter, self.way = network, stack, counter, way
        random = network.random
        self.una = self.next = self.most = self.first = random.randrange(1 << 20, 1 << 30)
        self.stamp = random.randrange(1 << 20, 1 << 30)
        self.recent = 0
        self.written = self.first + 1
        self.finishing = self.open = False
        self.mss = stack.mss - (12 if stack.timestamps else 0)
        self.cwnd, self.ssthresh = float(stack.initial * self.mss), 1e9
        self.recover, self.recovering, self.again = self.first, False, 0
        self.dupacks = self.backoff = 0
        self.smooth = self.variance = 0.0
        self.sample: tuple[int, float] | None = None
        self.sacked: list[tuple[int, int]] = []
        self.peer_window = 0
        self.timer: Event | None = None
        self.delayed: Event | None = None
        self.timeouts: list[float] = []
        self.repeats = 0
        # The receiver.
        self.wanted = 0
        self.begin = 0
        self.apart: list[tuple[int, int]] = []
        self.capacity = stack.window
        self.reading, self.unread = True, 0
        self.edge = 0
        self.shut: float | None = None
        self.stopped: float | None = None
        self.pauses: list[tuple[float, float, float]] = []
        """Of each pause: when reading stopped, when the window became small, and when it ended."""
        self.held = self.quick = 0
        self.sleepers: list[tuple[int, Callable[[], None]]] = []
        network.ends[way] = self

    # The application.

    def connect(self) -> None:
        """Open the connection."""
        self._emit(self.first, 0, SYN)
        self.next = self.most = self.first + 1
        self._arm()

    def send(self, size: int) -> None:
        """Send `size` bytes."""
        self.written += size
        self._push()

    def finish(self) -> None:
        """Close this direction after all bytes have been sent."""
        self.finishing = True
        self._push()

    @property
    def got(self) -> int:
        """The number of bytes that have arrived in order."""
        return max(0, self.wanted - self.begin)

    def wake(self, least: int, do: Callable[[], None]) -> None:
        """Call `do` once the connection is open and `least` bytes have arrived in order."""
        if self.open and self.got >= least:
            self.network.at(self.network.now, do)
        else:
            self.sleepers.append((least, do))

    def stop_reading(self) -> None:
        """Stop reading, so that arriving data fill the buffer."""
        self.reading = False
        self.stopped = self.network.now

    def read(self, size: int | None = None) -> None:
        """Read `size` bytes from the buffer; without a size, read all data from now on."""
        before = self.edge - self.wanted
        self.pauses += self.pause(self.network.now)
        self.stopped = None
        self.reading = size is None
        self.unread = 0 if size is None else max(0, self.unread - size)
        if self._window() >= before + min(2 * self.mss, self.capacity // 2) or size is not None:
            self._acknowledge()

    def pause(self, end: float) -> list[tuple[float, float, float]]:
        """Return the pause that ends at `end`, in the form of `pauses`; empty if there is none."""
        if self.shut is None:
            return []
        return [(self.shut if self.stopped is None else self.stopped, self.shut, end)]

    def keep_alive(self, size: int) -> None:
        """Send a keep-alive with `size` old bytes (1 or 0): its sequence number is `una` - 1."""
        self._emit(self.una - 1, size, ACK)

    # Packets that arrive.

    def take(self, packet: Packet) -> None:
        """Handle a packet."""
        if packet.flags & SYN:
            self._take_syn(packet)
            return
        if not self.open:
            if self.wanted == 0:
                return
            self.open = True
        self._take_ack(packet)
        if packet.length or packet.flags & FIN:
            self._take_data(packet)
        elif packet.seq < self.wanted:
            self._acknowledge()
        self._wake()
        self._push()

    def _take_syn(self, packet: Packet) -> None:
        if self.open:
            self._acknowledge()
            return
        self.wanted = self.begin = packet.seq + 1
        self.recent = _stamp(packet)
        self.peer_window = packet.window
        self.edge = self.wanted + self.capacity
        if packet.flags & ACK:
            self.open, self.una = True, packet.ack
            self._disarm()
            self._measured(self.network.now)
            self._acknowledge()
            self._wake()
            self._push()
        else:
            if self.next == self.first:
                self.next = self.most = self.first + 1
            self._emit(self.first, 0, SYN | ACK)
            self._arm()

    def _take_data(self, packet: Packet) -> None:
        seq, end = packet.seq, packet.end
        self.recent = max(self.recent, _stamp(packet)) if seq <= self.wanted else self.recent
        if end <= self.wanted:
            duplicate = [(seq, end)] if packet.length else []
            self._acknowledge(duplicate)
            return
        if end > self.edge:
            self._acknowledge()
            return
        filled = bool(self.apart)
        self.apart = _joined([*self.apart, (seq, end)])
        before = self.wanted
        if self.apart[0][0] <= self.wanted:
            self.wanted = self.apart.pop(0)[1]
        if not self.reading:
            self.unread += self.wanted - before
        self.held += 1
        if filled or self.apart or self.held >= 2 or self.quick < self.stack.quick_acks:
            self.quick += 1
            self._acknowledge()
        elif self.delayed is None:
            self.delayed = self.network.at(
                self.network.now + self.stack.delayed_ack, self._acknowledge
            )

    def _take_ack(self, packet: Packet) -> None:
        blocks = blocks_of(packet)
        news = [block for block in blocks if block[0] >= max(self.una, packet.ack)]
        self.sacked = _joined([*self.sacked, *news])
        same = packet.ack == self.una and packet.window == self.peer_window
        bare = not packet.length and not packet.flags & (SYN | FIN)
        self.peer_window = packet.window
        if packet.ack > self.una:
            self._advance(packet.ack)
        elif same and bare and self.next > self.una and (news or not self.stack.selective):
            self._duplicate()

    def _advance(self, ack: int) -> None:
        moved = ack - self.una
        self.una = ack
        self.next, self.most = max(self.next, ack), max(self.most, ack)
        self.sacked = [(first, end) for first, end in self.sacked if first > ack]
        self.dupacks = self.backoff = 0
        if self.sample is not None and ack >= self.sample[0]:
            self._measured(self.sample[1])
        if self.recovering and ack < self.recover:
            self.cwnd = max(self.mss, self.cwnd - moved + self.mss)
            self._again()
        elif self.recovering:
            self.recovering, self.cwnd = False, self.ssthresh
        elif self.cwnd < self.ssthresh:
            self.cwnd += min(moved, 2 * self.mss)
        else:
            self.cwnd += self.mss * min(moved, self.mss) / self.cwnd
        self._disarm()
        if self.una < self.most:
            self._arm()

    def _duplicate(self) -> None:
        self.dupacks += 1
        if self.recovering:
            self.cwnd += self.mss
            if self.sacked:
                self._again()
        elif self.dupacks == _DUPACKS and self.una >= self.recover:
            self.ssthresh = max((self.next - self.una) / 2, 2 * self.mss)
            self.cwnd = self.ssthresh + _DUPACKS * self.mss
            self.recovering, self.recover, self.again = True, self.most, self.una
            self._again()

    def _again(self) -> None:
        """Retransmit the first segment that is neither sacked nor retransmitted already."""
        at = max(self.una, self.again if self.sacked else self.una)
        for first, end in self.sacked:
            if first <= at < end:
                at = end
        if self.sacked and at >= self.sacked[-1][0]:
            return
        if at < min(self.recover, self._last()):
            self.again = at + self._segment(at)

    # Packets that are sent.

    def _last(self) -> int:
        return self.written + self.finishing

    def _push(self) -> None:
        """Send the data that the windows allow."""
        if not self.open:
            return
        while self.next < self._last():
            for first, end in self.sacked:
                if first <= self.next < end:
                    self.next = end
            left = self.written - self.next
            size = min(self.mss, left)
            room = self.una + min(self.peer_window, int(self.cwnd)) - self.next
            if size > room and left > 0:
                if self.next == self.una and self.timer is None and self.peer_window < size:
                    self._arm()
                return
            small = 0 < left < self.mss
            if small and self.stack.nagle and self.next > self.una:
                return
            self.next += self._segment(self.next)

    def _segment(self, at: int) -> int:
        """Send the segment that begins at `at`; return its length in sequence numbers."""
        size = min(self.mss, self.written - at)
        for first, _ in self.sacked:
            if at < first < at + size:
                size = first - at
        last = self.finishing and at + size == self.written
        flags = ACK | (PSH if at + size >= self.written else 0) | (FIN if last else 0)
        if at < self.most:
            self.repeats += 1
            if self.sample is not None and self.sample[0] > at:
                self.sample = None
        elif self.sample is None:
            self.sample = (at + size, self.network.now)
        if self.una == self.most:
            self.backoff = 0
            self._arm()
        self._emit(at, size, flags)
        self.most = max(self.most, at + size + last)
        return size + last

    def _acknowledge(self, duplicate: list[tuple[int, int]] | None = None) -> None:
        blocks = [*(duplicate or []), *self.apart] if self.stack.selective else []
        self._emit(max(self.next, self.most), 0, ACK, blocks)

    def _emit(
        self, seq: int, size: int, flags: int, blocks: list[tuple[int, int]] | None = None
    ) -> None:
        """Send a packet; every packet carries an acknowledgement."""
        now, stack = self.network.now, self.stack
        self.held = 0
        if self.delayed is not None:
            self.delayed.do = None
            self.delayed = None
        stamps = (self.stamp + int(now * _TICK), self.recent) if stack.timestamps else None
        if flags & SYN:
            told = options(
                mss=stack.mss, sack_permitted=stack.selective, scale=0, timestamps=stamps
            )
        else:
            told = options(timestamps=stamps, blocks=blocks)
        window = self._window() if self.wanted else self.capacity
        if window >= self.stack.mss:
            self.shut = None
        elif self.shut is None:
            self.shut = now
        packet = Packet(
            now,
            self.way[0],
            self.way[2],
            (self.way[1], self.way[3]),
            seq,
            self.wanted if flags & ACK else 0,
            flags,
            window,
            size,
            told,
            self.counter.next() if flags != SYN | ACK or stack.ttl == 128 else 0,
            stack.ttl,
        )
        self.network.send(packet)

    def _window(self) -> int:
        """Return the window: the free buffer, but at least what was advertised before."""
        self.edge = max(self.edge, self.wanted + self.capacity - self.unread)
        return min(65535, self.edge - self.wanted)

    # The timer.

    def _measured(self, sent: float) -> None:
        took, self.sample = self.network.now - sent, None
        if self.smooth == 0.0:
            self.smooth, self.variance = took, took / 2
        else:
            self.variance = 0.75 * self.variance + 0.25 * abs(self.smooth - took)
            self.smooth = 0.875 * self.smooth + 0.125 * took

    def _arm(self) -> None:
        self._disarm()
        first = _FIRST if not self.open else max(_LEAST, self.smooth + 4 * self.variance)
        length = min(_MOST, first * 2**self.backoff)
        self.timer = self.network.at(self.network.now + length, self._expire)

    def _disarm(self) -> None:
        if self.timer is not None:
            self.timer.do = None
            self.timer = None

    def _expire(self) -> None:
        self.timer = None
        self.backoff += 1
        if not self.open:
            self.timeouts.append(self.network.now)
            self._emit(self.first, 0, SYN | (ACK if self.wanted else 0))
        elif self.una == self.most:
            if self.next >= self._last():
                return
            if self.stack.probes is not None:
                self._probe(self.stack.probes)
        else:
            self.timeouts.append(self.network.now)
            self.ssthresh = max((self.most - self.una) / 2, 2 * self.mss)
            self.cwnd, self.recovering, self.dupacks = float(self.mss), False, 0
            self.recover, self.next = self.most, self.una
            self.sample = None
            self.next += self._segment(self.una)
        self._arm()

    def _probe(self, size: int) -> None:
        """Probe a closed window with an old sequence number (as Linux) or with one new byte."""
        self._emit(self.una - (not size), size, ACK)

    def _wake(self) -> None:
        ready = [do for least, do in self.sleepers if self.got >= least]
        self.sleepers = [one for one in self.sleepers if self.got < one[0]]
        for do in ready:
            self.network.at(self.network.now, do)


def _stamp(packet: Packet) -> int:
    """Return the time stamp of a packet of the small network, or 0 if the packet has none."""
    at = packet.options.find(b"\x08\x0a")
    return int.from_bytes(packet.options[at + 2 : at + 6], "big") if at >= 0 else 0


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order; spans that overlap or touch are joined."""
    told: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if told and first <= told[-1][1]:
            told[-1] = (told[-1][0], max(end, told[-1][1]))
        else:
            told.append((first, end))
    return told
