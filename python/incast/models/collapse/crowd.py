"""The chain of one connection in a crowd: so many that the buffer never empties.

State: the window, in round trips of a full buffer. With d the share of packets that are lost, a
window w passes with (1 - d)^w and grows by one; it is halved where three duplicate ACKs come and
the retransmission arrives; else the connection waits for its timer and starts again with one
segment. The buffer closes the chain (mean field): all connections together have outstanding what
buffer and pipe hold,

    N · E[w] · (share of time not waiting) = B + C·RTT,

which gives d. A retransmission into a full buffer is lost every other time, as the place that a
departure leaves is taken again during a packet time; a timer that doubles each time then waits
RTO·(1 + 1 + … ) = RTO·m on average if m doublings reach the end of the block.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats

LEAST_SERVERS = 16
"""Servers from which a mean stands for all."""

_WIDEST = 16  # windows beyond are as good as unlimited where losses are frequent
_LOSSES = np.geomspace(0.001, 0.6, 200)
_DUPLICATES = 3  # that make a fast retransmit (RFC 5681)
_RTT_TO_RTO = 1.2  # SRTT + 4 RTTVAR over the round trip where the queue is nearly constant


@dataclass(frozen=True)
class Crowd:
    """The stationary state, one element per scenario.

    Parameters
    ----------
    loss_ratio
        Share of the packets that are lost.
    timeouts
        Timeouts of one connection in a block, first ones and repeated.
    waiting
        What one connection waits for timers in a block, in times of a lossless block.
    """

    loss_ratio: Floats
    timeouts: Floats
    waiting: Floats


@cache
def _stationary() -> tuple[Floats, Floats]:
    """Return packets and timeouts per round trip of activity for every loss ratio."""
    loss = _LOSSES[:, None]
    passes = 1.0 - loss
    window = np.arange(1, _WIDEST + 1)[None, :]
    grows = passes**window
    # Below four segments limited transmit must bring out what makes the third duplicate: one lost,
    # three more packets and the retransmission arrive.
    one_lost = window * loss * passes ** (window - 1)
    halves = np.where(window > _DUPLICATES, (1.0 - grows) * passes**2, one_lost * passes**4)
    halves = np.where(window > 1, halves, 0.0)
    expires = 1.0 - grows - halves
    chain = np.zeros((len(_LOSSES), _WIDEST, _WIDEST))
    for i in range(_WIDEST):
        chain[:, i, min(i + 1, _WIDEST - 1)] += grows[:, i]
        chain[:, i, max(1, (i + 1) // 2 - 1)] += halves[:, i]
        chain[:, i, 0] += expires[:, i]
    # πP = π with Σπ = 1, solved for all loss ratios at once.
    system = np.swapaxes(chain, 1, 2) - np.eye(_WIDEST)
    system[:, -1, :] = 1.0
    right = np.zeros((len(_LOSSES), _WIDEST, 1))
    right[:, -1] = 1.0
    share = np.linalg.solve(system, right)[:, :, 0]
    return (share * window).sum(axis=1), (share * expires).sum(axis=1)


def crowd(reads: Reads) -> Crowd:
    """Solve the chain for every read."""
    packets, expiries = _stationary()
    room = reads.places + reads.pipe
    round_trip = room * reads.packet_s
    block = reads.lossless_s
    timer = np.maximum(reads.rto_min, _RTT_TO_RTO * round_trip)
    waits = timer * np.maximum(1.0, np.log2(1.0 + block / timer))
    active = round_trip[:, None] / (round_trip[:, None] + expiries * waits[:, None])
    outstanding = reads.servers[:, None] * packets * active
    # The smallest loss ratio at which the buffer holds what is outstanding.
    at = np.minimum((outstanding > room[:, None]).sum(axis=1), len(_LOSSES) - 1)
    loses = at > 0
    timeouts = np.where(loses, reads.segments * expiries[at] / packets[at], 0.0)
    return Crowd(np.where(loses, _LOSSES[at], 0.0), timeouts, timeouts * waits / block)
