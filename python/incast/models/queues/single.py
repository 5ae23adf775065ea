"""Queues with one server, any service times, and Poisson arrivals of packets or batches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .counts import Arrivals, arrivals, tails
from .occupancy import Occupancy, check_queue

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from incast.models.numbers import Floats

    from .batch import Batch
    from .service import Service

LARGE = 1e100
"""Value above which unnormalised probabilities are scaled down."""


@dataclass(frozen=True, eq=False)
class MG1K(Occupancy):
    """M/G/1/K, or M^[X]/G/1/K with batches, solved exactly by the chain embedded at departures.

    Parameters
    ----------
    arrival_rate
        Packets per second, the sum over all batches.
    service
        Distribution of the service time.
    capacity
        K: the largest number of packets in the system, including the packet in service. A switch
        has K = B + 1 if its buffer of B places does not count the packet on the wire.
    batch
        Distribution of the size of a batch; None means single packets. If a batch finds too few
        free places, its first packets take these places, and the other packets are lost.

    Raises
    ------
    ValueError
        An argument is out of range, or more than 200 batches arrive on average in a service of
        the longest kind (see `counts`). The properties raise this error, not the constructor.

    Notes
    -----
    A is the number of arrivals in a service. pi(i) is the share of departures that leave i packets
    behind. The cut between {0..j} and {j+1..} is crossed as often upwards as downwards:

        pi(j+1) P(A=0) = pi(0) P(X-1+A > j) + sum_{i=1..j} pi(i) P(A > j-i+1),   j < K - 1.

    Unlike the textbook's recursion (Takagi, Queueing Analysis vol. 2, 1993, §1.1), this recursion
    subtracts nothing, so it is accurate to rounding for any load and K. The distribution over time
    follows from the mean time that services spend with j packets, again by sums of positive terms.
    Blocking follows by PASTA, because a batch finds the distribution over time.
    """

    arrival_rate: float
    service: Service
    capacity: int
    batch: Batch | None = None

    @cached_property
    def load(self) -> float:
        """Offered load, rho: arrival rate x mean service time."""
        return self.arrival_rate * self.service.mean

    @cached_property
    def _arrivals(self) -> Arrivals:
        check_queue(self.arrival_rate, self.capacity)
        return arrivals(self.arrival_rate, self.service, self.batch, self.capacity)

    @cached_property
    def departures(self) -> Floats:
        """P(a departure leaves j packets behind), j = 0 .. capacity - 1."""
        pi = embedded(self._arrivals, self.batch, self.capacity)
        return np.asarray(pi / pi.sum())

    @cached_property
    def pmf(self) -> Floats:
        """P(j packets in the system), j = 0 .. capacity, over time."""
        places, pi, flow = self.capacity, self.departures, self._arrivals
        batches = self.arrival_rate / (self.batch.mean if self.batch else 1.0)
        start = np.append(pi, 0.0)
        start[0] = 0.0
        start += pi[0] * _first(self.batch, places)
        per_service = np.convolve(start, _leading(flow.time[: places + 1]))[: places + 1]
        per_service = np.pad(per_service, (0, places + 1 - per_service.size))
        per_service[places] = start @ flow.time_from[places::-1]
        per_service[0] = pi[0] / batches
        return np.asarray(per_service / per_service.sum())

    @cached_property
    def blocking(self) -> float:
        """Share of the packets that find no place."""
        if self.batch is None:
            return float(self.pmf[-1])
        return float(self.pmf @ self.batch.excess(self.capacity)[::-1]) / self.batch.mean


@dataclass(frozen=True, eq=False)
class MG1:
    """M/G/1 with unlimited capacity, for loads below 1, solved exactly.

    Parameters
    ----------
    arrival_rate
        Packets per second.
    service
        Distribution of the service time.

    Raises
    ------
    ValueError
        The load is 1 or more, so no distribution exists. The properties raise this error,
        not the constructor.

    Notes
    -----
    Mean and variance follow Pollaczek, Khinchine and Takács (Kleinrock, Queueing Systems vol. 1,
    1975, §5.6-5.7). The variance of the number of packets uses the distributional form of Little's
    law. The tail is P(N >= K) = b/(1 - rho + rho b), where b is the blocking probability of M/G/1/K
    (Keilson, The ergodic queue length distribution for queueing systems with finite capacity,
    1966).
    """

    arrival_rate: float
    service: Service

    @cached_property
    def load(self) -> float:
        """Offered load, rho: arrival rate x mean service time."""
        check_queue(self.arrival_rate, 1)
        load = self.arrival_rate * self.service.mean
        if load >= 1:
            raise ValueError(f"a load of {load:g} would fill any queue; give a capacity (MG1K)")
        return load

    @cached_property
    def mean_wait(self) -> float:
        """E[W], the mean wait before service in seconds."""
        return self.arrival_rate * self.service.mixture.moment(2) / (2 * (1 - self.load))

    @cached_property
    def mean(self) -> float:
        """E[N], packets, including the packet in service."""
        return self.load + self.arrival_rate * self.mean_wait

    @cached_property
    def variance(self) -> float:
        """Var[N], packets²."""
        moment = self.service.mixture.moment
        wait = self.arrival_rate * moment(3) / (3 * (1 - self.load)) + self.mean_wait**2
        sojourn = wait + moment(2) - moment(1) ** 2
        return self.mean + self.arrival_rate**2 * sojourn

    def tail(self, x: ArrayLike) -> Floats:
        """Return P(N > x) for every x, in packets. Tiny values are accurate to rounding, too."""
        first = np.maximum(np.floor(np.asarray(x, float)) + 1, 0).astype(int)
        most = int(first.max(initial=1))
        load = self.load
        flow = arrivals(self.arrival_rate, self.service, None, most)
        pi = embedded(flow, None, most)
        # Compute the blocking for all K = 1 .. most at once, because K only truncates the chain.
        busy = np.append(0.0, pi[1:])
        later = np.append(0.0, flow.time_from[1:most])
        full = np.append(np.convolve(busy, later), 0.0)[1 : most + 1]
        full += pi[0] * flow.time_from[:most]
        blocking = full / (self.service.mean * pi.cumsum() + pi[0] / self.arrival_rate)
        reached = np.append(1.0, blocking / (1 - load + load * blocking))
        return np.asarray(reached[first])


def embedded(flow: Arrivals, batch: Batch | None, capacity: int) -> Floats:
    """Return the shares of departures that leave 0 .. capacity - 1 packets, not normalised."""
    last = int(np.flatnonzero(flow.beyond)[-1]) if flow.beyond.any() else 0
    # P(A > m) in reverse order, so that each cut is a product of two arrays.
    backwards = flow.beyond[last:0:-1]
    idle = _after_idle(flow, batch)
    pi = np.zeros(capacity)
    pi[0] = 1.0
    for j in range(capacity - 1):
        low = max(1, j + 1 - last)
        above = pi[0] * idle[j] + pi[low : j + 1] @ backwards[last - (j + 1 - low) :]
        pi[j + 1] = above / flow.pmf[0]
        if pi[j + 1] > LARGE:
            pi[: j + 2] /= pi[j + 1]
    return pi


def _after_idle(flow: Arrivals, batch: Batch | None) -> Floats:
    """Return P(X - 1 + A > j): after an idle time, the first service leaves more than j packets."""
    if batch is None:
        return flow.beyond
    return tails(np.convolve(flow.pmf, batch.pmf[1:])[: flow.pmf.size])


def _first(batch: Batch | None, capacity: int) -> Floats:
    """Return the distribution of min(X, capacity), 0 .. capacity."""
    if batch is None:
        return np.asarray(np.eye(1, capacity + 1, 1)[0])
    first = np.zeros(capacity + 1)
    taken = batch.pmf[:capacity]
    first[: taken.size] = taken
    first[capacity] = batch.pmf[capacity:].sum()
    return first


def _leading(values: Floats) -> Floats:
    """Return the array without the zeros at its end."""
    return np.asarray(np.trim_zeros(values, "b"))
