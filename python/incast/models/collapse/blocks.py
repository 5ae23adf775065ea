"""The chain of blocks: windows from block to block while losses are rare.

The state is the window and the slow-start threshold of every connection at the end of a block.
A block begins with a burst of all windows (`burst`), continues window by window, and halves the
windows of those that lose. A connection waits for its timer

- if all that it had outstanding was lost,
- if fewer than three packets arrive after the first lost one (limited transmit makes any that
  arrives bring out another, so what counts is what is left to send and what was sent after it),
- if NewReno, which repairs one loss per round trip, needs longer than its timer, which only the
  first partial ACK restarts (RFC 6582 §4).

The expectation over requests' jitter and phases is taken over samples with the same random numbers
for every scenario, so that answers are repeatable and curves smooth.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incast.models.collapse.burst import Draws, meet
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats, floats

MOST_SERVERS = 24
"""Servers up to which the chain is followed: with more, losses are no longer rare."""

_SAMPLES = 8
_DUPLICATES = 3  # that make a fast retransmit (RFC 5681)
_WIDTHS = (4, 8, 12, 16, MOST_SERVERS)
_FOLLOWED = 10  # blocks; what follows is like the second half of these
_SLOW_START = 12  # rounds of the first block in which windows double
_ROUNDS = 60  # later windows of a block that are followed one by one
_ENDLESS = 1e9  # slow-start threshold before the first loss, packets

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """Means over blocks and samples, one element per scenario.

    Parameters
    ----------
    timeouts
        Timeouts of a block.
    seconds
        Duration of a block.
    """

    timeouts: Floats
    seconds: Floats


def follow(reads: Reads) -> Outcome:
    """Follow reads of at most `MOST_SERVERS` servers."""
    timeouts, seconds = np.zeros(len(reads)), np.zeros(len(reads))
    smallest = 0
    for width in _WIDTHS:
        index = np.flatnonzero((reads.servers > smallest) & (reads.servers <= width))
        smallest = width
        if index.size:
            part = _Chain(reads.take(index), width).run()
            timeouts[index], seconds[index] = part.timeouts, part.seconds
    return Outcome(timeouts, seconds)


class _Chain:
    """Samples of reads whose connections fit into `width` columns."""

    def __init__(self, reads: Reads, width: int) -> None:
        self.reads = reads
        self.points = len(reads)
        self.width = width
        each = reads.take(np.repeat(np.arange(self.points), _SAMPLES))
        self.each = each
        self.exists = np.arange(width) < each.servers[:, None]
        self.places, self.pipe = each.places, each.pipe
        self.window = np.where(self.exists, each.initial_window[:, None], 0.0)
        self.threshold = np.full(self.window.shape, _ENDLESS)
        self.size = np.where(self.exists, each.segments[:, None], 0.0)

    def run(self) -> Outcome:
        """Follow block after block."""
        counts, times = [], []
        most = int(self.reads.blocks.max(initial=1))
        for block in range(min(most, _FOLLOWED)):
            timeouts, seconds = self._block(block)
            counts.append(self._per_point(timeouts))
            times.append(self._per_point(seconds))
        return Outcome(self._mean(np.array(counts)), self._mean(np.array(times)))

    def _per_point(self, values: Floats) -> Floats:
        return np.asarray(values.reshape(self.points, _SAMPLES).mean(axis=1))

    def _mean(self, followed: Floats) -> Floats:
        """Average over the blocks of a run, the later ones like those last followed."""
        blocks = self.reads.blocks
        done = np.arange(len(followed))[:, None] < blocks
        total = np.where(done, followed, 0.0).sum(axis=0)
        late = followed[len(followed) // 2 :].mean(axis=0)
        return np.asarray((total + late * np.maximum(blocks - len(followed), 0.0)) / blocks)

    def _uniform(self, rng: np.random.Generator, columns: int) -> Floats:
        """Draw for every sample; scenarios share them, however many are asked."""
        drawn = rng.random((_SAMPLES, 2 * MOST_SERVERS))[:, :columns]
        return np.tile(drawn, (self.points, 1))

    def _burst_draws(self, rng: np.random.Generator) -> Draws:
        phases = self._uniform(rng, self.width)
        return phases, self._uniform(rng, 2 * self.width), self._uniform(rng, 2 * self.width)

    def _block(self, block: int) -> tuple[Floats, Floats]:
        """Play one block; return timeouts and seconds of every sample."""
        gaps = self._uniform(_source(block, 0), self.width) * 2 * self.each.gap[:, None]
        gaps[:, 0] = 0.0
        start = gaps.cumsum(axis=1)
        self.left = self.size.copy()
        self.waits = np.zeros_like(self.exists)
        self.careful = np.zeros_like(self.exists)
        self.resumes = np.zeros(self.window.shape)
        self.timeouts = np.zeros(len(self.each))
        self.elapsed = np.zeros(len(self.each))
        self._first_windows(block, start)
        self._later_windows(block)
        return self.timeouts, self._finish(start)

    def _first_windows(self, block: int, start: Floats) -> None:
        """Send the first window of every connection; in the first block all of slow start."""
        queue = np.zeros(len(self.each))
        before = np.zeros(len(self.each))
        for round_trip in range(_SLOW_START if block == 0 else 1):
            goes = self.exists & ~self.waits & ~self.careful & (self.left > 0)
            if round_trip > 0:
                goes &= self.window < self.threshold
                if not goes.any():
                    return
            sent = np.where(goes, np.minimum(np.floor(self.window), self.left), 0.0)
            losses = meet(
                start,
                sent,
                queue=queue,
                places=self.places,
                pipe=self.pipe,
                goes_on=sent < self.left,
                first=round_trip == 0,
                halves=(before > self.pipe) & (round_trip > 0),
                short_tail=self.each.short_tail,
                draws=self._burst_draws(_source(block, 1, round_trip)),
            )
            self._react(goes, sent, losses.lost, losses.before, losses.later, losses.clump)
            # The next window of each comes as a clump, in the order in which this one has left.
            start = _served(start, sent - losses.lost)
            before = sent.sum(axis=1)
            queue = np.clip(before - self.pipe, 0.0, self.places)
            self.elapsed += np.where(goes.any(axis=1), np.maximum(self.pipe, before), 0.0)

    def _react(
        self, goes: Flags, sent: Floats, lost: Floats, before: Floats, later: Floats, clump: Floats
    ) -> None:
        """Let every sender learn what its window and the ACK-clocked clump after it lost."""
        unsent = np.maximum(self.left - sent, 0.0)
        hit = goes & (lost >= 1)
        whole = hit & (sent - lost < 1)
        clump_gone = goes & ~hit & (clump >= 1) & (clump >= sent)
        too_few = hit & ~whole & (unsent + later < _DUPLICATES)
        in_flight = np.minimum(sent.sum(axis=1), self.places + self.pipe)
        round_trip = np.maximum(self.pipe, in_flight / 2) * self.each.packet_s
        too_long = hit & ~whole & (lost * round_trip[:, None] > self.each.rto_min[:, None])
        waits = whole | clump_gone | too_few | too_long
        repairs = (hit | (goes & (clump > 0))) & ~waits
        # RFC 5681, equation 4: half of what is outstanding.
        new = np.minimum(unsent, before * np.where(self.window < self.threshold, 2, 1))
        flight = np.where(hit & ~whole, sent - before + new, sent)
        lost = np.where(clump_gone, clump, lost)
        self.left = np.where(goes, self.left - (sent - lost), self.left)
        self._halve(np.arange(len(goes)), goes, waits, repairs, flight, sent)

    def _halve(
        self,
        rows: NDArray[np.int64],
        goes: Flags,
        waits: Flags,
        repairs: Flags,
        flight: Floats,
        acked: Floats,
    ) -> None:
        """Set windows and thresholds of those that lost, grow the others."""
        half = np.maximum(flight / 2, 2.0)
        hit = waits | repairs
        window = self.window[rows]
        threshold = self.threshold[rows]
        grown = np.where(goes, _grow(window, acked, threshold), window)
        self.threshold[rows] = np.where(hit, half, threshold)
        self.window[rows] = np.where(waits, 1.0, np.where(repairs, half, grown))
        # The timer runs from when the window was sent.
        self.resumes[rows] = np.where(waits, self.elapsed[rows, None], self.resumes[rows])
        self.waits[rows] |= waits
        self.careful[rows] |= repairs
        self.timeouts[rows] += waits.sum(axis=1)

    def _later_windows(self, block: int) -> None:
        """Send the rest of the SRU, one window per round trip; queues are no longer bursts.

        What exceeds buffer and pipe is lost, each connection's share of it on average.
        """
        draws = _source(block, 2).random((_ROUNDS, 2, _SAMPLES, MOST_SERVERS))[..., : self.width]
        goes = self.exists & ~self.waits & (self.left > 0)
        rows = np.flatnonzero(goes.any(axis=1))
        for chances, places in draws:
            goes = self.exists[rows] & ~self.waits[rows] & (self.left[rows] > 0)
            some = goes.any(axis=1)
            rows, goes = rows[some], goes[some]
            if rows.size == 0:
                return
            left, window = self.left[rows], self.window[rows]
            sent = np.where(goes, np.minimum(window, left), 0.0)
            total, many = sent.sum(axis=1), goes.sum(axis=1)
            share = np.maximum(total - self.places[rows] - self.pipe[rows], 0.0) / many
            lost = np.floor(share[:, None] + chances[rows % _SAMPLES])
            lost = np.where(goes & (share[:, None] > 0), np.minimum(lost, np.ceil(sent)), 0.0)
            hit = lost >= 1
            after = np.maximum(left - sent, 0.0) + places[rows % _SAMPLES] * sent
            waits = hit & ((lost > sent - 1) | (after < _DUPLICATES))
            self.left[rows] = np.where(goes, left - (sent - lost), left)
            self._halve(rows, goes, waits, hit & ~waits, np.floor(window), sent - lost)
            self.elapsed[rows] += np.maximum(self.pipe[rows], total)
        goes = self.exists & ~self.waits & (self.left > 0)
        self.window = np.where(goes, _grow(self.window, self.left, self.threshold), self.window)
        self.elapsed += np.where(goes, self.left, 0.0).sum(axis=1)

    def _finish(self, start: Floats) -> Floats:
        """Let timers expire; return the seconds of the block."""
        late = self.waits.any(axis=1)
        left = np.where(self.waits, np.maximum(self.left, 1.0), 0.0)
        grown = _grow(np.ones_like(self.window), left, self.threshold)
        # One round trip per doubling, and per segment of growth beyond the threshold.
        rounds = np.log2(np.minimum(grown, self.threshold) + 1.0)
        rounds += np.maximum(grown - self.threshold, 0.0)
        sending = np.maximum(rounds * self.pipe[:, None], left)
        repair = np.where(self.waits, self.resumes + sending, 0.0)
        self.window = np.where(self.waits, grown, self.window)
        asking = np.where(self.exists, start, 0.0).max(axis=1) + self.pipe
        work = self.each.servers * self.each.segments + self.pipe
        packet_s = self.each.packet_s
        sending = np.maximum(np.maximum(self.elapsed, work), asking + self.each.segments) * packet_s
        timer = np.maximum(self.each.rto_min, (self.places + self.pipe) * packet_s)
        return floats(
            np.where(late, np.maximum(sending, timer + repair.max(axis=1) * packet_s), sending)
        )


def _source(*place: int) -> np.random.Generator:
    """Return the random numbers of one place of the chain, the same for all scenarios."""
    return np.random.default_rng([20, *place])


def _grow(window: Floats, acked: Floats, threshold: Floats) -> Floats:
    """Return the window after so many ACKs (RFC 5681 §3.1).

    A segment per ACK up to the threshold, then 1 / window: w² grows by two per ACK.
    """
    slow = np.where(window < threshold, np.clip(threshold - window, 0.0, acked), 0.0)
    rest = np.maximum(acked - slow, 0.0)
    window = window + slow
    return floats(np.where(rest > 0, np.sqrt(window * window + 2 * rest), window))


def _served(start: Floats, packets: Floats) -> Floats:
    """Return when each sender's packets begin to leave, one sender after the other."""
    begins = np.empty_like(start)
    free = np.zeros(len(start))
    for sender in range(start.shape[1]):
        free = np.maximum(free, start[:, sender])
        begins[:, sender] = free
        free = free + packets[:, sender]
    return begins
