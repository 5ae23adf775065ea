"""The number of packets in a queue, for every kind of queue."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from incast.models.numbers import Floats


class Occupancy(ABC):
    """A finite queue, described by the distribution of its number of packets over time."""

    @property
    @abstractmethod
    def pmf(self) -> Floats:
        """P(j packets in the system), j = 0 .. capacity, including packets in service."""

    @property
    @abstractmethod
    def blocking(self) -> float:
        """Share of the offered packets that find no place."""

    @property
    def in_service(self) -> int:
        """Largest number of packets in service at once."""
        return 1

    @cached_property
    def mean(self) -> float:
        """E[N], packets."""
        return float(self.pmf @ np.arange(self.pmf.size))

    @cached_property
    def variance(self) -> float:
        """Var[N], packets²."""
        return float(self.pmf @ (np.arange(self.pmf.size) - self.mean) ** 2)

    @cached_property
    def mean_waiting(self) -> float:
        """E[(N - n)^+] with n servers: mean number of packets that wait and are not in service."""
        return float(self.pmf @ np.maximum(np.arange(self.pmf.size) - self.in_service, 0))

    def tail(self, x: ArrayLike) -> Floats:
        """Return P(N > x) for every x, in packets."""
        beyond = np.append(self.pmf[::-1].cumsum()[::-1], 0.0)
        first = np.floor(np.asarray(x, float)) + 1
        return np.asarray(beyond[np.clip(first, 0, self.pmf.size).astype(int)])


def check_queue(arrival_rate: float, capacity: int, servers: int = 1) -> None:
    """Refuse invalid parameters of a queue.

    Raises
    ------
    ValueError
        The arrival rate, the number of servers or the capacity is out of range.
    """
    if not (np.isfinite(arrival_rate) and arrival_rate > 0):
        raise ValueError("arrival_rate must be a positive, finite number of packets per second")
    if servers < 1 or int(servers) != servers:
        raise ValueError("servers must be a whole number of at least 1")
    if capacity < servers or int(capacity) != capacity:
        raise ValueError(
            f"capacity must be a whole number of at least {servers}, including packets in service"
        )
