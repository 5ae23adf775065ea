"""A lost handshake: what a run pays once.

A connection opens once in a run. A SYN-ACK that finds no room is sent again after a second. What
full packets leave of the buffer has room for k bare headers; data fill everything else. So a
SYN-ACK is lost while the buffer is full and holds k of them already, or k and what makes another
full packet. While requests come every g packet times, B / g are waiting on average, with a variance
of a third of that (gaps are uniform).
"""

import numpy as np

from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats

FULL = 0.4
"""Share of the time for which the buffer is full once it has been full, while connections open.

Fitted to the simulated collapse points of the development set (docs/validation/collapse.md).
"""


def lost_handshakes(reads: Reads) -> Floats:
    """Return how many SYN-ACKs a run loses on average."""
    gap = np.maximum(reads.gap, 1e-9)
    mean = reads.places / gap
    spread = np.sqrt(mean / 3.0)
    nearest = np.round((mean - reads.spare) / reads.to_full)
    density = np.zeros(len(reads))
    for neighbour in (-1, 0, 1):
        count = reads.spare + reads.to_full * (nearest + neighbour)
        away = (count - mean) / np.maximum(spread, 1e-9)
        density += np.where(count >= 0, np.exp(-(away**2) / 2), 0.0)
    chance = np.minimum(density / np.maximum(spread * np.sqrt(2 * np.pi), 1e-9), 1.0)
    chance = np.where(np.isnan(reads.spare), 1.0, chance)
    return np.asarray(FULL * chance * _late(reads, gap))


def _late(reads: Reads, gap: Floats) -> Floats:
    """Return how many servers are asked after the buffer has filled for the first time.

    Each request brings the initial window, and every delivered packet one more (slow start); the
    buffer is full once that exceeds buffer and pipe. Where requests come more slowly than the link
    serves them it never is.
    """
    room = reads.places + reads.pipe
    asks = reads.initial_window / gap
    alone = room / asks
    # asks·t + (t - pipe) = room, once packets come back.
    clocked = (room + reads.pipe) / (asks + 1.0)
    filled = np.where(alone < reads.pipe, alone, clocked)
    late = np.maximum(reads.servers - filled / gap, 0.0)
    return np.where(reads.segments > reads.gap, late, 0.0)
