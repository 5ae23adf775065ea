"""Approximations for queues with several servers and any service times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .counts import arrivals
from .occupancy import Occupancy, check_queue

if TYPE_CHECKING:
    from incast.models.numbers import Floats

    from .service import Service

LARGE = 1e100
"""Value above which unnormalised probabilities are scaled down."""
PANELS = 256
"""Number of pieces into which an integral over service times is divided. Each constant service time
is an additional boundary of pieces."""
NODES = 12
"""Number of Gauss-Legendre nodes in each piece."""


@dataclass(frozen=True, eq=False)
class MGn:
    """M/G/n with unlimited capacity, for loads below 1: Lee and Longton's mean wait.

    Parameters
    ----------
    arrival_rate
        Packets per second.
    service
        Distribution of the service time.
    servers
        n.

    Raises
    ------
    ValueError
        The load is 1 or more. The properties raise this error, not the constructor.

    Notes
    -----
    E[W] = (1 + s²)/2 x E[W of M/M/n] (Lee and Longton, Queueing processes associated with airline
    passenger check-in, Operational Research Quarterly 10, 1959). The formula is exact for n = 1 and
    for s² = 1.
    """

    arrival_rate: float
    service: Service
    servers: int

    @cached_property
    def load(self) -> float:
        """Offered load of one server, rho."""
        check_queue(self.arrival_rate, self.servers, self.servers)
        load = self.arrival_rate * self.service.mean / self.servers
        if load >= 1:
            raise ValueError(f"a load of {load:g} would fill any queue; give a capacity (MGnK)")
        return load

    @cached_property
    def waits(self) -> float:
        """P(a packet waits) of M/M/n: Erlang's C."""
        blocked = 1.0
        for n in range(1, self.servers + 1):
            blocked = self.load * self.servers * blocked
            blocked /= n + blocked
        return blocked / (1 - self.load * (1 - blocked))

    @cached_property
    def mean_wait(self) -> float:
        """E[W], the mean wait before service in seconds."""
        exponential = self.waits * self.service.mean / (self.servers * (1 - self.load))
        return (1 + self.service.scv) / 2 * exponential

    @cached_property
    def mean(self) -> float:
        """E[N], packets, including the packets in service."""
        return self.arrival_rate * (self.mean_wait + self.service.mean)


@dataclass(frozen=True, eq=False)
class MGnK(Occupancy):
    """M/G/n/K: the approximation of Tijms, van Hoorn and Federgruen, at any load.

    Parameters
    ----------
    arrival_rate
        Packets per second.
    service
        Distribution of the service time.
    servers
        n.
    capacity
        K: the largest number of packets in the system, including the packets in service.

    Raises
    ------
    ValueError
        An argument is out of range. The properties raise this error, not the constructor.

    Notes
    -----
    The source is: Approximations for the steady-state probabilities in the M/G/c queue, Adv. Appl.
    Prob. 13, 1981. While a server is idle, the system behaves like M/M/n with the same mean service
    time. While all servers are busy, the system behaves like one server that is n times as fast.
    When the last idle server becomes busy, every other service is assumed to be at a random point
    of its duration. Then

        p(j) = l p(n-1) a(j-n) + l sum_{k=n..j} p(k) b(j-k),   n <= j < K.

    l is the arrival rate. b(m) is the mean time of a service of S/n during which m packets have
    arrived so far. a(m) is the same mean time for the minimum of S and n - 1 residual services.
    p(K) contains the rest of both sums. The approximation is exact for n = 1 and for exponential
    services.
    """

    arrival_rate: float
    service: Service
    servers: int
    capacity: int

    @property
    def in_service(self) -> int:
        """Largest number of packets in service at once: n."""
        return self.servers

    @cached_property
    def load(self) -> float:
        """Offered load of one server, rho."""
        check_queue(self.arrival_rate, self.capacity, self.servers)
        return self.arrival_rate * self.service.mean / self.servers

    @cached_property
    def pmf(self) -> Floats:
        """P(j packets in the system), j = 0 .. capacity."""
        n, places, rate = self.servers, self.capacity, self.arrival_rate
        offered = self.load * n
        flow = arrivals(rate / n, self.service, None, places)
        later = rate / n * flow.time
        first = self._first_service(later.size)
        p = np.zeros(places + 1)
        p[0] = 1.0
        for j in range(1, places):
            if j < n:
                p[j] = p[j - 1] * offered / j
            else:
                known = p[n:j] @ later[j - n : 0 : -1] if j > n else 0.0
                p[j] = (p[n - 1] * first[j - n] + known) / (1 - later[0])
            if p[j] > LARGE:
                p[: j + 1] /= p[j]
        if places == n:
            p[n] = p[n - 1] * offered / n
        else:
            rest = rate / n * flow.time_from[places - n : 0 : -1]
            p[places] = p[n - 1] * first[places - n :].sum() + p[n:places] @ rest
        return np.asarray(p / p.sum())

    @cached_property
    def blocking(self) -> float:
        """Share of the packets that find no place."""
        return float(self.pmf[-1])

    def _first_service(self, length: int) -> Floats:
        """Return l a(m): the time until the first of 1 new and n - 1 residual services ends."""
        from scipy.special import gammaln

        mixture = self.service.mixture
        times, weights = _panels(mixture.means, mixture.shapes)
        left = mixture.residual_survival(times) ** (self.servers - 1) * mixture.survival(times)
        m, rate = np.arange(length), self.arrival_rate
        shares = np.zeros(length)
        rows = max(1, (1 << 20) // length)
        for i in range(0, times.size, rows):
            t = rate * times[i : i + rows, None]
            terms = np.exp(m * np.log(t) - t - gammaln(m + 1))
            shares += (left * weights)[i : i + rows] @ terms
        return np.asarray(rate * shares)


def _panels(means: Floats, shapes: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights of an integral over service times.

    Constant service times are boundaries between the pieces of the integral.
    """
    constants = np.unique(means[np.isinf(shapes)])
    if constants.size > PANELS:
        constants = np.unique(np.quantile(constants, np.linspace(0, 1, PANELS)))
    gamma = np.isfinite(shapes)
    # An exponential stage exceeds 80 times its mean with the probability e^-80.
    end = max(constants.max(initial=0.0), (means[gamma] * (1 + 80 / shapes[gamma])).max(initial=0))
    start = means.min() * 1e-3
    edges = np.concatenate([[0.0], np.geomspace(start, end, PANELS), constants])
    edges = np.unique(edges)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    half = np.diff(edges)[:, None] / 2
    times = edges[:-1, None] + half * (1 + nodes)
    return times.ravel(), (half * weights).ravel()
