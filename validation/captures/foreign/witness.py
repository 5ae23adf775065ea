"""Find witnesses in a file: signs that a packet was sent but did not arrive.

There are four kinds of witnesses: bytes that are seen twice, a hole in the sequence numbers and its
filling, a duplicate ACK, and a sequence number beyond the data seen so far. If a connection counts
its packets, a missing number is a witness, too. In an incomplete file, only repeated bytes and
filled holes are witnesses, because the capture may have caused the other holes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from validation.captures.foreign.packet import FIN, SYN

if TYPE_CHECKING:
    from validation.captures.foreign.packet import Packet

_SAME = 2e-6  # seconds by which equal times may differ
_SEGMENT = 1448  # bytes of each segment in a packet that an offload has merged
_MOST = 1000  # packets; a larger jump of the counter has another reason than a loss


class Witnesses:
    """The times at which the connections of each server have witnesses of losses."""

    def __init__(self, packets: list[Packet], *, counted: bool, complete: bool) -> None:
        self.times: dict[str, list[float]] = defaultdict(list)
        ways: dict[tuple[str, int, str, int], _Way] = defaultdict(_Way)
        for packet in packets:
            way = ways[packet.way]
            if way.take(packet, counted=counted, complete=complete):
                server = packet.source if packet.ports[0] < packet.ports[1] else packet.target
                self.times[server].append(packet.time)

    def of(self, server: str, start: float, end: float) -> bool:
        """Return whether there is a witness for a server between two times."""
        times = self.times[server]
        at = bisect_left(times, start - _SAME)
        return at < len(times) and times[at] <= end + _SAME

    def of_stall(self, stall: dict[str, Any]) -> bool:
        """Return whether a witness ends a true stall; if not, late new data may have ended it."""
        end = stall["start"] + stall["duration"]
        return self.of(stall["server"], end, end)


class _Way:
    """One direction of a connection."""

    def __init__(self) -> None:
        self.most: int | None = None
        self.last: tuple[int, int] | None = None
        self.number: int | None = None
        self.packets = 1
        self.syns = 0

    def take(self, packet: Packet, *, counted: bool, complete: bool) -> bool:
        """Update the state by the next packet; return whether the packet is a witness."""
        jumped = self._jumped(packet) and counted and complete
        if packet.flags & SYN:
            self.syns += 1
            self.most = packet.end
            return self.syns > 1
        bare = not packet.length and not packet.flags & FIN
        if self.most is None:
            self.most, self.last = packet.end, (packet.ack, packet.window) if bare else None
            return False
        if bare:
            same = (packet.ack, packet.window)
            duplicate = self.last == same and packet.seq >= self.most
            self.last = same
            ahead = packet.seq > self.most
            self.most = max(self.most, packet.seq)
            return complete and (duplicate or ahead or jumped)
        self.last = None
        if packet.seq > self.most:
            self.most = packet.end
            return complete or jumped
        if packet.end > self.most:
            self.most = packet.end
            return jumped
        return True  # the packet fills a hole, or was seen before

    def _jumped(self, packet: Packet) -> bool:
        before, packets = self.number, self.packets
        self.number, self.packets = packet.identification, max(1, -(-packet.length // _SEGMENT))
        if before is None:
            return False
        return packets < (packet.identification - before) & 0xFFFF < _MOST
