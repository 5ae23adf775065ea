"""Measurements of answers at the client."""

from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True)
class Sample:
    """The measurements of one answer.

    Parameters
    ----------
    received
        Bytes that arrived.
    seconds
        Seconds from the turn of the answer to its end.
    gap
        The longest time without data, seconds.
    lost
        Packets that arrived behind a gap in the sequence numbers; a lost packet leaves such a gap.
    """

    received: int
    seconds: float
    gap: float
    lost: int = 0


class Meter:
    """Measures the goodput while as many answers are in flight as the plan allows."""

    def __init__(self) -> None:
        self._last: float | None = None
        self.seconds = 0.0
        self.received = 0
        self.wanted = 0
        """The largest number of answers that were in flight or waiting at one time."""

    def tick(self, count: int = 0, *, full: bool) -> None:
        """Count bytes, and the time since the last tick, unless a slot was free at that tick."""
        now = monotonic()
        if self._last is not None:
            self.seconds += now - self._last
            self.received += count
        self._last = now if full else None

    @property
    def goodput(self) -> float:
        """Bytes per second; 0 if there was no time to measure."""
        return self.received / self.seconds if self.seconds else 0.0

    def clear(self) -> None:
        """Begin another measurement."""
        self.seconds, self.received, self.wanted = 0.0, 0, 0
