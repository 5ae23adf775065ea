"""Signals of the switch to the senders, other than drops at a full buffer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass


class Signal(ABC):
    """A rule for dropping or marking packets."""

    drops: bool = False
    """Whether packets that carry the signal are lost."""

    @abstractmethod
    def share(self, queue: float) -> float:
        """Return the share of packets with the signal while `queue` packets wait."""


@dataclass(frozen=True)
class DropTail(Signal):
    """No signal other than drops at a full buffer."""

    def share(self, queue: float) -> float:
        """Return 0."""
        del queue
        return 0.0


@dataclass(frozen=True)
class Fixed(Signal):
    """Every packet is lost with `probability`, at any queue length."""

    probability: float
    drops = True

    def share(self, queue: float) -> float:
        """Return the probability."""
        del queue
        return self.probability


@dataclass(frozen=True)
class Threshold(Signal):
    """Packets that find more than `packets` waiting are marked (DCTCP's switch)."""

    packets: float

    def share(self, queue: float) -> float:
        """Return 1 above the threshold, else 0."""
        return 1.0 if queue > self.packets else 0.0


@dataclass(frozen=True)
class Ramp(Signal):
    """The share of marked packets grows from 0 at `low` waiting packets to 1 at `high`."""

    low: float
    high: float

    def share(self, queue: float) -> float:
        """Return the position of `queue` between `low` and `high`, from 0 to 1."""
        return min(max((queue - self.low) / (self.high - self.low), 0.0), 1.0)
