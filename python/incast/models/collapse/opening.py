"""The first window of every connection in a block, and all of slow start in the first block.

Windows that have survived the block before arrive as bursts, spread by the requests' jitter only
(`burst`). In the first block windows double round trip by round trip until one loses; senders do
not know of a loss before a round trip has passed, and what the packets before it brought out
competes in the next one.
"""

import numpy as np

from incast.models.collapse.burst import Draws, Losses, meet
from incast.models.collapse.reads import Reads
from incast.models.collapse.rounds import DUPLICATES, LEAST_WINDOW
from incast.models.collapse.senders import AT_ONCE, Flags, Senders
from incast.models.numbers import Floats

_MOST_ROUNDS = 12


class Opening:
    """The senders whose first requests find the network empty.

    Parameters
    ----------
    reads
        One per sample.
    senders
        Just asked; changed in place.
    start
        When each is asked.
    slow_start
        Whether to go on until all slow start has ended: in the first block.
    """

    def __init__(self, reads: Reads, senders: Senders, start: Floats, slow_start: bool) -> None:
        self.reads, self.senders, self.start = reads, senders, start
        self.room = reads.places + reads.pipe
        self.slow_start = slow_start
        # Later requests find the ACK clock running and join the rounds, unless they come so slowly
        # that the queue empties between them.
        soon = np.where(slow_start, reads.pipe, self.room)
        soon = np.where(reads.sparse, np.inf, soon)
        self.takes_part = senders.fresh & (start <= soon[:, None])
        self.alone = (self.takes_part == senders.fresh).all(axis=1)
        self.clock, self.timeouts = np.zeros(len(start)), np.zeros(len(start))
        self.unaware = np.zeros(start.shape)

    def play(self, draws: list[Draws]) -> tuple[Floats, Floats]:
        """Send; return timeouts and the time at which the next windows begin, per sample."""
        begin = self.start
        queue = np.zeros(len(begin))
        first = self.takes_part
        self.senders.pause = np.where(first, AT_ONCE, self.senders.pause)
        self.senders.fresh = self.senders.fresh & ~first
        for number in range(_MOST_ROUNDS if self.slow_start else 1):
            it = self.senders
            goes = first & (it.pause == AT_ONCE) & (it.holes == 0) & (it.left > 0)
            if number > 0:
                goes &= (it.window < it.threshold) & self.alone[:, None]
                if not goes.any():
                    break
            sent = np.where(goes, np.minimum(np.floor(it.window), it.left), self.unaware)
            losses = meet(
                begin,
                sent,
                queue=queue,
                places=self.reads.places,
                pipe=self.reads.pipe,
                goes_on=sent < it.left,
                first=number == 0,
                short_tail=self.reads.short_tail,
                draws=draws[number],
            )
            self._lose_more(sent, losses)
            self._react(goes, sent, losses)
            begin = _served(begin, sent - losses.lost)
            queue = np.clip(sent.sum(axis=1) - self.reads.pipe, 0.0, self.reads.places)
            arrived = (sent - losses.lost).sum(axis=1)
            passed = np.maximum(self.reads.pipe, arrived)
            self.clock += np.where(goes.any(axis=1), passed, 0.0)
        return self.timeouts, self.clock

    @staticmethod
    def rounds(slow_start: bool) -> int:
        """Return for how many meetings numbers must be drawn."""
        return _MOST_ROUNDS if slow_start else 1

    def _lose_more(self, sent: Floats, losses: Losses) -> None:
        """Add what is lost of those who do not know yet that they have lost."""
        it = self.senders
        who = self.unaware > 0
        it.left -= np.where(who, sent - losses.lost, 0.0)
        it.holes += np.where(who, losses.lost, 0.0)
        it.left = np.maximum(it.left, it.holes)
        it.clocked = np.where(who, sent - losses.lost, it.clocked)

    def _react(self, goes: Flags, sent: Floats, losses: Losses) -> None:
        """Let every sender learn what its window and the ACK-clocked clump after it lost."""
        it = self.senders
        lost, before = losses.lost, losses.before
        unsent = np.maximum(it.left - sent, 0.0)
        hit = goes & (lost >= 1)
        whole = hit & (sent - lost < 1)
        clump_gone = goes & ~hit & (losses.clump >= 1) & (losses.clump >= sent)
        too_few = hit & ~whole & (unsent + losses.later < DUPLICATES)
        waits = whole | clump_gone | too_few
        repairs = (hit | (goes & (losses.clump > 0))) & ~waits
        new = np.minimum(unsent, before * np.where(it.window < it.threshold, 2, 1))
        # RFC 5681, equation 4: half of what is outstanding.
        flight = np.where(hit & ~whole, sent - before + new, sent)
        half = np.maximum(flight / 2, LEAST_WINDOW)
        arrived = np.where(goes, sent - lost, 0.0)
        slow = np.minimum(arrived, np.maximum(it.threshold - it.window, 0.0))
        gain = np.where(it.window < it.threshold, slow, arrived / np.maximum(it.window, 1.0))
        wider = np.minimum(it.window + gain, self.reads.most_window[:, None])
        it.window = np.where(waits, 1.0, np.where(repairs, half, wider))
        it.threshold = np.where(waits | repairs, half, it.threshold)
        it.left -= arrived
        holes = np.minimum(np.where(hit, lost, losses.clump), np.maximum(it.left, 1.0))
        it.holes = np.where(repairs, holes, it.holes)
        it.left = np.where(repairs | waits, np.maximum(it.left, 1.0), it.left)
        it.ahead = np.where(repairs, flight, it.ahead)
        it.spacing = np.where(repairs, flight / np.maximum(holes, 1.0), it.spacing)
        it.clocked = np.where(goes, np.where(waits, 0.0, arrived), it.clocked)
        span = np.maximum(self.reads.pipe, arrived.sum(axis=1))
        it.since = np.where(repairs, (self.clock + 2 * span)[:, None], it.since)
        self._wait(waits, np.maximum(lost, 1.0))
        self.unaware = np.where(repairs & hit, np.floor(new), 0.0)

    def _wait(self, waits: Flags, lost: Floats) -> None:
        """Start timers, from when the window was sent."""
        it = self.senders
        timer = np.maximum(self.reads.rto_min / self.reads.packet_s, self.room)
        since = np.maximum(np.where(waits, self.start, 0.0), self.clock[:, None])
        it.pause = np.where(waits, since + timer[:, None], it.pause)
        it.backoff = np.where(waits, 1.0, it.backoff)
        it.again = np.where(waits, lost, it.again)
        self.timeouts += waits.sum(axis=1)


def _served(start: Floats, packets: Floats) -> Floats:
    """Return when each sender's packets begin to leave, one sender after the other."""
    begins = np.empty_like(start)
    free = np.zeros(len(start))
    for sender in range(start.shape[1]):
        free = np.maximum(free, start[:, sender])
        begins[:, sender] = free
        free = free + packets[:, sender]
    return begins
