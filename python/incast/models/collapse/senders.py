"""What a sender remembers: the state of the chain."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from incast.models.numbers import Floats

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]

ENDLESS = 1e9
"""Slow-start threshold before the first loss, packets."""
AT_ONCE = -np.inf
"""`pause` of a sender that does not wait."""


@dataclass
class Senders:
    """All senders of a block, one row per sample, one column per sender; times in packet times.

    Parameters
    ----------
    window, threshold
        Packets.
    left
        Packets that have not arrived yet.
    pause
        When the request comes, or the retransmission timer expires; `AT_ONCE` for who sends.
    fresh
        Whether nothing of the block has been sent.
    holes
        Lost packets that are repaired, one per round trip, before the window grows again.
    since
        When the first partial ACK of the repair comes: the timer runs from there.
    ahead
        Packets outstanding from the first hole on.
    spacing
        Packets from one hole to the next.
    clocked
        Packets that arrived in the last round trip; each leaves a place.
    again
        Packets that are sent a second time after a timer; a loss among them is not repaired.
    backoff
        How often the timer has doubled.
    """

    window: Floats
    threshold: Floats
    left: Floats
    pause: Floats
    fresh: Flags
    holes: Floats
    since: Floats
    ahead: Floats
    spacing: Floats
    clocked: Floats
    again: Floats
    backoff: Floats

    @classmethod
    def connected(cls, initial_window: Floats, width: int) -> "Senders":
        """Return connections that have just opened, `width` per sample."""
        shape = (len(initial_window), width)
        zeros = [np.zeros(shape) for _ in range(7)]
        window = np.broadcast_to(initial_window[:, None], shape).copy()
        threshold, pause = np.full(shape, ENDLESS), np.full(shape, AT_ONCE)
        fresh = np.zeros(shape, dtype=np.bool_)
        return cls(window, threshold, np.zeros(shape), pause, fresh, *zeros)

    def ask(self, sizes: Floats, starts: Floats) -> None:
        """Begin a block: windows and thresholds stay."""
        self.left = sizes.copy()
        self.pause = np.where(sizes > 0, starts, np.inf)
        self.fresh = sizes > 0
        for name in ("holes", "since", "ahead", "spacing", "clocked", "again", "backoff"):
            setattr(self, name, np.zeros(sizes.shape))

    def flat(self) -> "Senders":
        """Return the same numbers without rows, to be changed in place."""
        return Senders(*(getattr(self, field.name).reshape(-1) for field in fields(self)))

    def take(self, rows: Rows) -> "Senders":
        """Return some of the samples."""
        return Senders(*(getattr(self, field.name)[rows] for field in fields(self)))

    def put(self, rows: Rows, part: "Senders", chosen: Flags) -> None:
        """Take over what became of the chosen ones of some samples."""
        for field in fields(self):
            getattr(self, field.name)[rows[chosen]] = getattr(part, field.name)[chosen]
