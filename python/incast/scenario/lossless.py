"""The goodput of a workload without losses, by which a collapse is defined."""

from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from incast.scenario.resolved import Resolved

Floats = NDArray[np.float64]
Numbers = Floats | float


def lossless_goodput(here: Resolved) -> float:
    """Return the goodput in bit/s that the workload of a scenario has without losses.

    For a read, this is the bits of a block divided by `lossless_s`, but at most the requested rate.
    For long flows, it is the limit that links and receive windows set. For other workloads, and
    for several workloads together, it is NaN, because it is not defined.
    """
    if not here.judged:
        return nan
    links = _links(here) * here.mss / here.facts["wire_bytes"]
    if not here.reads:
        return min(links, here.flows * here.receive_window * here.mss * 8 / here.base_rtt)
    return min(block_bits(here) / lossless_s(here), here.demand)


def block_bits(here: Resolved) -> float:
    """Return the application bits of a block."""
    return here.servers * here.sru * 8.0


def lossless_s(here: Resolved) -> float:
    """Return the mean time in seconds of a block in which no packet is lost."""
    segments, full = here.facts["sru_segments"], here.facts["wire_bytes"] * 8.0
    blocks = 1 if here.fresh else here.workload.get("blocks")
    block = Lossless(
        servers=here.servers,
        segments=segments,
        data=here.sru * 8.0 / full + segments * (1 - here.mss * 8.0 / full),
        own=full / here.server_rate,
        shared=full / _links(here),
        trip=here.base_rtt + here.send_jitter / 2,
        greeting=here.bare_rtt if here.facts["shakes"] else 0.0,
        late=here.lateness,
        initial=min(here.initial_window, here.receive_window),
        most=here.receive_window,
        blocks=inf if blocks is None else int(blocks),  # inf: the first block has no weight
    )
    return float(block.time)


@dataclass(frozen=True)
class Lossless:
    """A read without losses. Each quantity is a number or an array; times may have any unit.

    Parameters
    ----------
    servers, segments
        The number of servers, and the number of segments that each server sends.
    data
        The data and headers that each server sends, in full packets.
    own, shared
        The time of a full packet on a server's link, and on the links that all servers share.
    trip, greeting
        Round trip of a full packet and its ACK, and round trip of a handshake (0 without a
        handshake).
    late
        The time from when the first server learns of a block until the last server does.
    initial, most
        The initial and the largest window in segments.
    blocks
        The number of blocks for which a connection stays open.
    """

    servers: Numbers
    segments: Numbers
    data: Numbers
    own: Numbers
    shared: Numbers
    trip: Numbers
    greeting: Numbers
    late: Numbers
    initial: Numbers
    most: Numbers
    blocks: Numbers

    @property
    def time(self) -> Floats:
        """Mean time of a block.

        A block that opens connections begins with a handshake, and its windows double from the
        initial window.
        """
        later = self._block(self.most)
        first = self._block(self.initial) + self.greeting
        return np.asarray(later + (first - later) / self.blocks)

    def _block(self, window: Numbers) -> Floats:
        """Return the time of a block if servers may send this many segments at first.

        This is the time of all data on the shared links, or the time that the last server needs on
        its own, whichever is longer. The ACKs of a window arrive after a round trip at the
        earliest. Until then the links are idle, unless servers that were asked at other times use
        them.
        """
        alone, together = self._idle(window)
        late = np.asarray(self.late, float)
        of_last = late + alone + (self.data - 1.0) * self.own
        of_all = np.maximum(together - late, 0.0) + (self.servers * self.data - 1.0) * self.shared
        return np.asarray(np.maximum(of_last, of_all) + self.trip)

    def _idle(self, window: Numbers) -> tuple[Floats, Floats]:
        """Return the idle times of a server's own link, and of the shared links, in a block."""
        size = np.asarray(window, float)
        left = np.asarray(self.segments, float)
        alone = together = np.zeros(())
        while np.any(left > size):
            # The window stays at its maximum until fewer segments than a window are left.
            times = np.where(size < self.most, 1.0, np.ceil(left / size) - 1.0)
            times = np.where(left > size, times, 0.0)
            alone = alone + times * np.maximum(self.trip - size * self.own, 0.0)
            shared = self.servers * size * self.shared
            together = together + times * np.maximum(self.trip - shared, 0.0)
            left = left - times * size
            size = np.minimum(2.0 * size, self.most)
        return alone, together


def _links(here: Resolved) -> float:
    """Return the total rate of the clients' or of the servers' links, the lower one, in bit/s."""
    rates = [here.limit, here.servers * here.server_rate]
    return min(rate for rate in rates if rate < inf)
