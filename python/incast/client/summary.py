"""The summary of a read."""

from dataclasses import dataclass
from functools import cached_property

from incast.client.piece import Outcome

SLOW_GAP = 0.15
"""Seconds without data that count as a stall; Linux retransmits after at least 200 ms."""


@dataclass(frozen=True)
class Summary:
    """The results of all pieces of a read.

    Parameters
    ----------
    outcomes
        The result of each piece, in the order of the pieces.
    seconds
        From the first request for a slot to the end of the last piece.
    """

    outcomes: tuple[Outcome, ...]
    seconds: float

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Pieces that could not be read."""
        return tuple(it for it in self.outcomes if it.error is not None)

    @cached_property
    def received(self) -> int:
        """Bytes of the pieces that were read."""
        return sum(it.sample.received for it in self._read if it.sample)

    @property
    def goodput_bps(self) -> float:
        """Goodput of the read in bit/s; only whole pieces count."""
        return 8 * self.received / self.seconds if self.seconds else 0.0

    @property
    def slowest(self) -> Outcome | None:
        """The piece that took longest from its turn to its end; None if no piece was read."""
        return max(self._read, key=lambda it: it.sample.seconds if it.sample else 0.0, default=None)

    @property
    def stalls(self) -> int:
        """Number of pieces that received no data for longer than `SLOW_GAP`."""
        return sum(it.sample is not None and it.sample.gap > SLOW_GAP for it in self.outcomes)

    @property
    def _read(self) -> list[Outcome]:
        return [it for it in self.outcomes if it.error is None]
