"""A burst into a finite buffer: which senders lose, and how much.

A fluid of whole senders. While k senders send at the rate of the link that drains the buffer, the
queue grows by k - 1 packets per packet time (k where nothing leaves). Once all places are taken a
place becomes free every packet time at the same phase of it, and senders of the same rate keep
their phases: whoever comes first after the departure gets every place, and all others lose
everything that they send until it has finished. Who opened the busy period defines the departures'
phase and is always first; the order of the others is random.

Packets that ACKs of the burst's first packets bring out compete for the same places. They are
clumps of one connection, so that they, too, win or lose as a whole.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incast.models.numbers import Floats

Draws = tuple[Floats, Floats, Floats]
"""Uniform numbers: phases (senders), and for every event who wins and which clump is hit."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Losses:
    """What became of a burst; arrays of samples x senders, packets.

    Parameters
    ----------
    lost
        Packets lost.
    before
        Packets that arrived before the first that was lost.
    later
        Packets of the burst that arrived after it.
    clump
        Packets lost of those that ACKs of the burst brought out.
    """

    lost: Floats
    before: Floats
    later: Floats
    clump: Floats


_NEVER = np.inf
_EPS = 1e-9
_MOST_EVENTS = 128  # of a meeting; with more senders what happens between two is averaged
_EITHER = 0.5  # clumps and first windows win alike


def meet(
    start: Floats,
    packets: Floats,
    *,
    queue: Floats,
    places: Floats,
    pipe: Floats,
    goes_on: Flags,
    first: bool,
    short_tail: Flags,
    draws: Draws,
) -> Losses:
    """Let senders meet in front of the buffer.

    Parameters
    ----------
    start
        When each begins to send, packet times; samples x senders.
    packets
        How many it sends back to back; none where it does not take part.
    queue, places, pipe
        Packets waiting at the beginning, places, packets that the idle path holds; per sample.
    goes_on
        Whether a sender has more to send when ACKs arrive.
    first
        Whether it is the first window of a block: then phases differ and ACKs bring out clumps.
        Later windows are clocked by departures and have no phase of their own: they share the
        loss, as each ACK brings two packets and frees one place.
    short_tail
        Whether the last packet, being short, arrives out of phase and finds no place.
    draws
        See `Draws`.
    """
    meeting = _Meeting(start, packets, queue, places, pipe, goes_on, first, short_tail, draws)
    for event in meeting.events:
        meeting.advance(event)
        meeting.turn(event)
    return meeting.losses()


class _Meeting:
    """The fluid between its events: a sender begins or ends."""

    def __init__(
        self,
        start: Floats,
        packets: Floats,
        queue: Floats,
        places: Floats,
        pipe: Floats,
        goes_on: Flags,
        first: bool,
        short_tail: Flags,
        draws: Draws,
    ) -> None:
        samples, self.senders = start.shape
        self.packets, self.places, self.pipe = packets, places, pipe
        self.goes_on, self.first, self.short_tail = goes_on, first, short_tail
        phase, self.wins, self.hits = draws
        self.rows = np.arange(samples)
        self.begin = np.where(packets > 0, start, _NEVER)
        self.end = np.where(packets > 0, start + packets, _NEVER)
        moments = np.concatenate([self.begin, self.end], axis=1)
        self.order = np.argsort(moments, axis=1, kind="stable")
        self.moments = np.take_along_axis(moments, self.order, axis=1)
        events = int(np.isfinite(self.moments).sum(axis=1).max(initial=0))
        self.events = [*range(events)]
        if events > _MOST_EVENTS:
            self.events = np.linspace(0, events - 1, _MOST_EVENTS).astype(int).tolist()
        self.ranked = np.argsort(phase, axis=1, kind="stable")
        self.rank_of = np.argsort(self.ranked, axis=1, kind="stable")
        # Per sender: rate now, packets lost, when first, whether its first window has gone.
        self.lost, self.clump = (np.zeros(start.shape) for _ in range(2))
        self.when = np.full(start.shape, _NEVER)
        self.tail = np.zeros(start.shape, dtype=np.bool_)
        # Per sample.
        self.leader = np.full(samples, -1)
        self.count, self.served = np.zeros(samples), np.zeros(samples)
        self.queue = queue.copy()
        self.overflows = np.zeros(samples, dtype=np.bool_)
        self.now = np.where(np.isfinite(self.moments[:, 0]), self.moments[:, 0], 0.0)

    def advance(self, event: int) -> None:
        """Let the fluid flow until the event."""
        moment = self.moments[:, event]
        moment = np.where(np.isfinite(moment), moment, self.now)
        span = moment - self.now
        self._send(moment, span)
        # Once a round trip of service is over, departures bring out new packets, as far as those
        # who sent them have any.
        returning = self.first & (self.served > self.pipe)
        echo = np.where(returning, self.ended / np.maximum(self.started, 1.0), 0.0)
        rate = self.count + echo - 1.0
        filled = self.queue + span * rate
        busy = (self.queue > 0) | (self.count + echo >= 1)
        self.served += np.where(busy, span, span * self.count)
        self.overflows = filled > self.places + _EPS
        at = np.flatnonzero(self.overflows & (rate > _EPS))
        if at.size:
            full = np.minimum((filled[at] - self.places[at]) / rate[at], span[at])
            self._lose(event, at, full, echo[at], moment[at])
        self.queue = np.clip(filled, 0.0, self.places)
        self.now = moment

    def _send(self, moment: Floats, span: Floats) -> None:
        """Set the rate of every sender until the event, and who has begun and sent all."""
        before, after = self.now[:, None], moment[:, None]
        overlap = np.minimum(self.end, after) - np.maximum(self.begin, before)
        self.sending = np.maximum(overlap, 0.0) / np.maximum(span, _EPS)[:, None]
        self.count = self.sending.sum(axis=1)
        self.started = (self.begin <= before + _EPS).sum(axis=1)
        self.has_ended = (self.end <= before + _EPS) & self.goes_on
        self.ended = self.has_ended.sum(axis=1)

    def _lose(
        self, event: int, at: NDArray[np.int64], full: Floats, echo: Floats, moment: Floats
    ) -> None:
        """Share the losses of the time `full` for which no place was free."""
        ahead = self.leader[at]
        leads = np.flatnonzero(ahead >= 0)
        rest = self.sending[at]
        held = np.zeros(at.size)
        held[leads] = rest[leads, ahead[leads]]
        rest[leads, ahead[leads]] = 0.0
        echo_wins = self.wins[at, event] < _EITHER
        room = np.maximum(1.0 - held - np.where(echo_wins, echo, 0.0), 0.0)
        ranked = np.take_along_axis(rest, self.ranked[at], axis=1)
        losing = np.clip(ranked.cumsum(axis=1) - room[:, None], 0.0, ranked)
        losing = np.take_along_axis(losing, self.rank_of[at], axis=1)
        total = self.count[at] + echo
        if not self.first:
            losing = self.sending[at] * ((total - 1.0) / total)[:, None]
        losing = losing * full[:, None]
        since = np.minimum(self.when[at], (moment - full)[:, None])
        self.when[at] = np.where(losing > _EPS, since, self.when[at])
        self.lost[at] += losing
        hit = np.flatnonzero(~echo_wins & (echo > 0))
        if hit.size:
            # One connection that has sent its first window, the n-th of them, n uniform.
            row = at[hit]
            candidates = self.has_ended[row]
            nth = np.floor(self.hits[row, event] * candidates.sum(axis=1))
            chosen = np.argmax(candidates.cumsum(axis=1) > nth[:, None], axis=1)
            self.clump[row, chosen] += full[hit] * np.minimum(echo[hit], total[hit] - 1.0)

    def turn(self, event: int) -> None:
        """Let the sender of the event begin or end."""
        happens = np.isfinite(self.moments[:, event])
        who = self.order[:, event]
        begins = happens & (who < self.senders)
        ends = happens & ~begins
        who = np.where(who < self.senders, who, who - self.senders)
        cut = ends & self.short_tail & ~self.goes_on[self.rows, who] & self.overflows & self.first
        self.tail[self.rows[cut], who[cut]] = True
        leads = (self.leader >= 0) & (self.end[self.rows, self.leader] > self.now + _EPS)
        opens = begins & ~leads & (self.queue <= _EPS) & (self.count < _EPS) & self.first
        self.leader = np.where(opens, who, self.leader)

    def losses(self) -> Losses:
        """Sum up, in whole packets."""
        takes_part = self.packets > 0
        begin = np.where(takes_part, self.begin, 0.0)
        end = np.where(takes_part, self.end, 0.0)
        lost = np.minimum(np.rint(self.lost), self.packets)
        before = np.where(self.lost > 0, np.minimum(self.when, end) - begin, 0.0)
        tail = self.tail & (lost < 1) & takes_part
        before = np.where(tail, self.packets - 1, np.clip(before, 0.0, self.packets - lost))
        lost = np.where(tail, 1.0, lost)
        later = np.where(lost >= 1, np.maximum(self.packets - before - lost, 0.0), 0.0)
        return Losses(lost, before, later, np.minimum(np.rint(self.clump), self.packets))
