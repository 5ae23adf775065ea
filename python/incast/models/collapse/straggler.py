"""What a block and a run wait for: the slowest connection, and a lost handshake.

A block ends when the last of N connections has finished. What each waits for its timers is nearly
exponential (a random number of waits, each of which doubles), so the slowest waits about ln N
times the mean; part of that is hidden behind the data of others.

A connection opens once in a run. A SYN-ACK that finds the buffer full is lost unless its 40 bytes
fit into what is left over, and costs the initial timeout of one second, once.
"""

import numpy as np

from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats

HIDDEN = 0.27
"""Share of ln N mean waits by which a block exceeds its lossless time.

Fitted, with `SYN_ACK_LOSS`, to the simulated collapse points of the development set
(docs/validation/collapse.md).
"""

SYN_ACK_LOSS = 0.011
"""Chance that a SYN-ACK does not fit into a buffer that data have filled."""


def stretch(servers: Floats, waiting: Floats) -> Floats:
    """Return the time of a block over its lossless time.

    Parameters
    ----------
    servers
        N.
    waiting
        Mean wait of a connection in lossless block times.
    """
    return np.asarray(1.0 + HIDDEN * waiting * np.log(servers))


def handshake_loss(reads: Reads) -> Floats:
    """Return the probability that a run loses a SYN-ACK.

    While requests arrive every `gap`, each brings the initial window, and every delivered packet
    one more (slow start); the buffer is full once that exceeds buffer and pipe. Where the requests
    come more slowly than the link serves them it never is.
    """
    room = reads.places + reads.pipe
    asks = reads.initial_window / np.maximum(reads.gap, 1e-9)
    alone = room / asks
    # asks·t + (t - pipe) = room, once packets come back.
    clocked = (room + reads.pipe) / (asks + 1.0)
    filled = np.where(alone < reads.pipe, alone, clocked)
    late = np.maximum(reads.servers - filled / np.maximum(reads.gap, 1e-9), 0.0)
    late = np.where(reads.segments > reads.gap, late, 0.0)
    return np.asarray(1.0 - (1.0 - SYN_ACK_LOSS) ** late)
