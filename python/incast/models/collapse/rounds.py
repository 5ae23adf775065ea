"""The rounds of a block: everybody sends a window per round trip.

All connections together have at most B + P packets under way: those that wait and those that the
path holds. A packet that an ACK clocks takes the place that a departure has left. What a sender
sends beyond that is *extra*: a window that grows, a request that comes late, a timer that has
expired. With X extra packets of which the network can hold all but D, a share D / X of them is
lost; a late request's burst wins or loses its places as a whole (`burst`). A connection that loses

- all of a window, or so much of it that fewer than three duplicate ACKs come, waits for its timer;
- else halves its window and repairs one hole per round trip, without growing meanwhile (NewReno,
  RFC 6582 §3.2), unless the retransmission is lost or its timer expires first: only the first
  partial ACK restarts it (§4);
- packets that it sends a second time after a timer, waits again: duplicate ACKs for them start no
  fast retransmit (RFC 6582 §3.2, `recover`).

A timer doubles until new data are acknowledged (RFC 6298 §5, Karn's rule). Who wakes finds the
queue full every other time, if it is full at all in that round trip: where the place is that a
departure leaves depends on the phase.
"""

import numpy as np

from incast.models.collapse.reads import Reads
from incast.models.collapse.senders import AT_ONCE, Flags, Rows, Senders
from incast.models.numbers import Floats, floats

DUPLICATES = 3
"""Duplicate ACKs that make a fast retransmit (RFC 5681)."""
LEAST_WINDOW = 2.0
"""Slow-start threshold at least, packets (RFC 5681, equation 4)."""

WOKEN_LOSES = 0.75
"""Chance that a packet without a clock finds no place while the queue is full at times.

One half if phases are even; fitted to the development set (docs/validation/collapse.md).
"""

_RTT_TO_RTO = 1.2  # SRTT + 4 RTTVAR over the round trip where the queue is nearly constant
_MOST_DOUBLINGS = 6.0
_COMPACT = 0.75  # share of unfinished samples below which the others are put away


def play(
    reads: Reads, senders: Senders, clock: Floats, draws: Floats, most: int
) -> tuple[Floats, Floats]:
    """Send until nothing is left.

    Parameters
    ----------
    reads
        One per sample.
    senders
        After the first windows; changed in place.
    clock
        Packet times since the first request.
    draws
        Uniform numbers: rounds x kinds x samples of one scenario x senders.
    most
        Round trips that are followed; what is left then goes on at the same pace.

    Returns
    -------
    timeouts, ends
        Of every sample: how many, and when the last packet has arrived.
    """
    timeouts, ends = np.zeros(len(clock)), clock.copy()
    rows = np.flatnonzero((senders.left > 0).any(axis=1))
    game = _Rounds(reads.take(rows), senders.take(rows), clock[rows])
    for number in range(most):
        if rows.size == 0:
            return timeouts, ends
        goes = game.play(draws[number % len(draws)], rows % draws.shape[2])
        count = np.count_nonzero(goes)
        if count < _COMPACT * len(goes):
            over = ~goes
            senders.put(rows, game.senders, over)
            timeouts[rows[over]], ends[rows[over]] = game.timeouts[over], game.clock[over]
            rows = rows[goes]
            game = game.take(np.flatnonzero(goes))
    senders.put(rows, game.senders, np.ones(len(rows), dtype=np.bool_))
    pace = game.pace()
    timeouts[rows], ends[rows] = game.timeouts * pace, game.clock * pace
    return timeouts, ends


class _Rounds:
    """Samples in the midst of a block."""

    def __init__(self, reads: Reads, senders: Senders, clock: Floats) -> None:
        self.reads, self.senders, self.clock = reads, senders, clock
        self.flat = senders.flat()
        self.room = reads.places + reads.pipe
        self.timer = reads.rto_min / reads.packet_s
        self.most = reads.most_window[:, None]
        self.timeouts = np.zeros(len(clock))

    def take(self, rows: Rows) -> "_Rounds":
        """Return some of the samples."""
        part = _Rounds(self.reads.take(rows), self.senders.take(rows), self.clock[rows])
        part.timeouts = self.timeouts[rows]
        return part

    def pace(self) -> Floats:
        """Return by how much longer all takes than what has been played."""
        work = self.reads.servers * self.reads.segments
        return floats(work / np.maximum(work - self.senders.left.sum(axis=1), 1.0))

    def play(self, draws: Floats, samples: Rows) -> Flags:
        """Play one round trip; return which samples have not finished."""
        it = self.senders
        sends = (it.left > 0) & (it.pause <= self.clock[:, None])
        sent = np.where(sends, np.minimum(np.floor(it.window), it.left), 0.0)
        mending = np.flatnonzero(self.flat.holes > 0)
        self._mend(sent, mending)
        total = sent.sum(axis=1)
        over = np.maximum(total - self.room, 0.0)
        self.span = np.where(total > 0, np.maximum(self.reads.pipe, total - over), 0.0)
        full = np.flatnonzero(over > 0)
        hit, gone = full, np.zeros(0)
        if full.size:
            lost = self._losses(full, sends, sent, over, draws, samples)
            rows, columns = np.nonzero(lost)
            hit, gone = full[rows] * sent.shape[1] + columns, lost[rows, columns]
        marked = np.zeros(sent.size, dtype=np.bool_)
        marked[hit] = True
        who = np.concatenate([hit, mending[~marked[mending]]])
        gone = np.concatenate([gone, np.zeros(who.size - hit.size)])
        before, resent = self.flat.window[who], self.flat.again[who] > 0
        self._arrive(sent)
        if who.size:
            place = draws[1][samples[who // sent.shape[1]], who % sent.shape[1]]
            self._recover(who, before, resent, sent.reshape(-1)[who], gone, place)
        self.clock += self.span
        return self._skip(np.flatnonzero(total == 0))

    def _skip(self, idle: Rows) -> Flags:
        """Go on to the next timer or request where nobody sends; say who has not finished."""
        goes = np.ones(len(self.clock), dtype=np.bool_)
        if idle.size:
            it = self.senders
            unfinished = it.left[idle] > 0
            following = np.where(unfinished, it.pause[idle], np.inf).min(axis=1)
            goes[idle] = unfinished.any(axis=1)
            some = np.isfinite(following)
            self.clock[idle[some]] = np.maximum(self.clock[idle[some]], following[some])
        return goes

    def _mend(self, sent: Floats, mending: Rows) -> None:
        """Let who repairs send one hole, and new data as far as the halved window goes."""
        flat = self.flat
        holes = flat.holes[mending]
        quota = np.maximum(np.floor(flat.threshold[mending]) - holes, 0.0)
        new = np.maximum(np.minimum(quota, flat.left[mending] - holes), 0.0)
        sent.reshape(-1)[mending] = 1.0 + new
        flat.ahead[mending] += new - flat.spacing[mending]

    def _losses(
        self,
        full: Rows,
        sends: Flags,
        sent: Floats,
        over: Floats,
        draws: Floats,
        samples: Rows,
    ) -> Floats:
        """Share what does not fit, in samples whose buffer overflows."""
        it = self.senders
        width = sent.shape[1]
        chance, lottery = (draws[kind, samples[full], :width] for kind in (0, 2))
        sent, over = sent[full], over[full]
        woken = sends[full] & (it.pause[full] > AT_ONCE) & ~it.fresh[full]
        clocked = np.where(woken, 0.0, it.clocked[full])
        extra = np.maximum(sent - clocked, 0.0)
        odds = np.minimum(over / np.maximum(extra.sum(axis=1), 1.0), 1.0)
        # Without a clock: after a timer, all that is extra.
        loose = (woken | (it.again[full] > 0)) & (it.holes[full] <= 0)
        alone = np.where(loose, extra, 0.0)
        alone = np.floor(np.maximum(WOKEN_LOSES, odds)[:, None] * alone + lottery)
        over = np.maximum(over - alone.sum(axis=1), 0.0)
        joins = sends[full] & it.fresh[full]
        clash = np.zeros_like(sent)
        some = np.flatnonzero(joins.any(axis=1))
        if some.size:
            clash[some] = _clash(joins[some], sent[some], over[some], lottery[some], chance[some])
            over = over - clash.sum(axis=1)
        sent, extra = np.where(loose, 0.0, sent), np.where(loose, 0.0, extra)
        total = extra.sum(axis=1)
        share = extra * np.minimum(over / np.maximum(total, 1.0), 1.0)[:, None]
        rest = np.maximum(over - total, 0.0) / np.maximum(sent.sum(axis=1), 1.0)
        share += sent * rest[:, None] + clash
        return floats(np.minimum(np.floor(share + chance), sent) + alone)

    def _arrive(self, sent: Floats) -> None:
        """Let every window grow by what has been sent; those that lost are set right after."""
        it, flat = self.senders, self.flat
        moved = sent > 0
        # RFC 5681 §3.1: a segment per ACK up to the threshold, then one per window.
        slow = np.minimum(sent, it.threshold - it.window + 1.0)
        it.window += np.where(it.window < it.threshold, slow, sent / it.window)
        np.minimum(it.window, self.most, out=it.window)
        it.left -= sent
        it.clocked[...] = sent
        np.copyto(it.pause, AT_ONCE, where=moved)
        np.copyto(it.fresh, False, where=moved)
        backed = np.flatnonzero(flat.backoff)
        backed = backed[moved.reshape(-1)[backed]]
        if backed.size:
            flat.backoff[backed[flat.again[backed] <= 0]] = 0.0
            flat.again[backed] = np.maximum(flat.again[backed] - sent.reshape(-1)[backed], 0.0)

    def _recover(
        self, who: Rows, before: Floats, resent: Flags, put: Floats, gone: Floats, place: Floats
    ) -> None:
        """Decide for those that lost or repair who waits, who repairs, who is done."""
        flat = self.flat
        row = who // self.senders.window.shape[1]
        arrived = put - gone
        left, holes = flat.left[who] + gone, flat.holes[who]
        threshold = flat.threshold[who]
        hit, mends = gone > 0, holes > 0
        clock, span = self.clock[row], self.span[row]
        timer = np.maximum(self.timer[row], _RTT_TO_RTO * span)
        # Every packet before the first lost one brings out another; so does each of the first two
        # duplicate ACKs (limited transmit, RFC 3042).
        unsent = np.maximum(left - gone, 0.0)
        after = np.floor(place * (arrived + 1.0))
        after += np.minimum(arrived - after, unsent)
        too_few = ~mends & ((arrived < 1) | (unsent < DUPLICATES - after))
        again = mends & (place * put < gone)
        late = mends & (holes > 1) & (clock + span - flat.since[who] > timer)
        waits = (hit & (too_few | again | resent)) | late
        starts = hit & ~waits & ~mends
        half = np.maximum(np.floor(np.where(mends, flat.ahead[who], put) / 2), LEAST_WINDOW)
        holes = np.where(mends, np.maximum(holes - 1.0 + gone, 0.0), gone)
        holes = np.where(waits, 0.0, holes)
        window = np.where(mends & (holes <= 0), threshold, np.where(starts, half, before))
        flat.window[who] = np.where(waits, 1.0, window)
        flat.threshold[who] = np.where(waits | starts, half, threshold)
        flat.holes[who] = holes
        flat.left[who] = np.maximum(left, np.where(waits, 1.0, holes))
        flat.clocked[who] = arrived
        new = who[starts]
        flat.since[new] = clock[starts] + 2 * span[starts]
        flat.ahead[new] = put[starts]
        flat.spacing[new] = put[starts] / gone[starts]
        self._wait(who[waits], row[waits], timer[waits], gone[waits])

    def _wait(self, who: Rows, row: Rows, timer: Floats, gone: Floats) -> None:
        """Let timers run, and count them."""
        flat = self.flat
        backoff = flat.backoff[who]
        flat.pause[who] = self.clock[row] + timer * 2.0 ** np.minimum(backoff, _MOST_DOUBLINGS)
        flat.backoff[who] = backoff + 1.0
        flat.again[who] = np.maximum(gone, 1.0)
        flat.clocked[who] = 0.0
        self.timeouts += np.bincount(row, minlength=len(self.timeouts))


def _clash(joins: Flags, sent: Floats, over: Floats, lottery: Floats, chance: Floats) -> Floats:
    """Let bursts of late requests meet what the queue holds: whoever loses loses all."""
    burst = np.where(joins, sent, 0.0).sum(axis=1)
    # Any part of a clump that the clock sends may meet a burst.
    met = np.maximum(1.0 - chance / (burst / sent.sum(axis=1))[:, None], 0.0)
    at_stake = np.where(joins, sent, np.floor(met * sent))
    order = np.argsort(lottery, axis=1)
    ranked = np.take_along_axis(at_stake, order, axis=1)
    before = ranked.cumsum(axis=1) - ranked
    gone = np.clip(np.minimum(over, burst)[:, None] - before, 0.0, ranked)
    losses = np.zeros_like(sent)
    np.put_along_axis(losses, order, gone, axis=1)
    return losses
