"""Queues whose distribution has a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .occupancy import Occupancy, check_queue

if TYPE_CHECKING:
    from incast.models.numbers import Floats

GUARD_DIGITS = 30
"""Decimal digits of the computation, in addition to the digits that cancel."""


@dataclass(frozen=True, eq=False)
class MM1K(Occupancy):
    """M/M/1/K: P(j) = (1 - rho) rho^j/(1 - rho^(K+1)) (Kleinrock 1975, §3.6).

    Parameters
    ----------
    arrival_rate
        Packets per second.
    time
        Mean service time, seconds.
    capacity
        K: the largest number of packets in the system, including the packet in service.

    Raises
    ------
    ValueError
        An argument is out of range. The properties raise this error, not the constructor.
    """

    arrival_rate: float
    time: float
    capacity: int

    @cached_property
    def load(self) -> float:
        """Offered load, rho."""
        check_queue(self.arrival_rate, self.capacity)
        return self.arrival_rate * self.time

    @cached_property
    def pmf(self) -> Floats:
        """P(j packets in the system), j = 0 .. capacity."""
        # Powers of the smaller ratio do not overflow.
        ratio = min(self.load, 1 / self.load)
        weights = ratio ** np.arange(self.capacity + 1.0)
        weights /= weights.sum()
        return weights if self.load <= 1 else weights[::-1].copy()

    @cached_property
    def blocking(self) -> float:
        """Share of the packets that find no place."""
        return float(self.pmf[-1])


def md1k_blocking(load: float, capacity: int) -> float:
    """Return the blocking probability of M/D/1/K by its alternating series.

    Parameters
    ----------
    load
        rho, arrival rate x service time; positive.
    capacity
        K, including the packet in service. The cost grows with K² x rho, so the function is meant
        for K up to about 1000. The function serves to check the chain (`MG1K`), which has no such
        limit.

    Notes
    -----
    P = 1 - b(K-1)/(1 + rho b(K-1)) with b(n) = sum_{k=0..n} (-rho)^k (n-k)^k e^{(n-k) rho}/k!
    (Brun and Garcia, Analytical solution of finite capacity M/D/1 queues, J. Appl. Prob. 37, 2000).
    The terms are far larger than their sum, so many digits cancel, and the terms are computed with
    more decimal digits.
    """
    check_queue(load, capacity)
    n, rho = capacity - 1, Decimal(load)
    with localcontext() as context:
        context.prec = GUARD_DIGITS + int(2 * n * max(load, 1.0)) + n
        # The last term, 0^n, is 1 for n = 0, and otherwise 0.
        total, factor, growth = Decimal(n == 0), Decimal(1), rho.exp()
        for k in range(n):
            total += factor * Decimal(n - k) ** k * growth ** (n - k)
            factor *= -rho / (k + 1)
        return float(1 - total / (1 + rho * total))


def smith_blocking(load: float, scv: float, capacity: float) -> float:
    """Return the blocking probability of M/G/1/K by MacGregor Smith's two-moment approximation.

    Parameters
    ----------
    load
        rho, positive.
    scv
        Squared coefficient of variation of the service time, s².
    capacity
        K, including the packet in service; not necessarily a whole number.

    Returns
    -------
    float
        P = rho^a (rho - 1)/(rho^b - 1) with r = sqrt(rho), d = 2 + r s² - r, a = (r s² - r + 2K)/d
        and b = 2 (r s² - r + K + 1)/d (MacGregor Smith, Properties and performance modelling of
        finite buffer M/G/1/K networks, Computers & Operations Research 38, 2011). P is exact for
        s² = 1. For other s², P is an approximation that fails where losses are rare: see the
        reference page.
    """
    check_queue(load, 1)
    bias = load**0.5 * (scv - 1)
    first, second = (bias + 2 * capacity) / (2 + bias), 2 * (bias + capacity + 1) / (2 + bias)
    logarithm = float(np.log(load))
    if logarithm == 0:
        return float(1 / second)
    if logarithm < 0:
        return float(np.exp(first * logarithm) * np.expm1(logarithm) / np.expm1(second * logarithm))
    # The same quotient, with numerator and denominator divided by rho^b.
    left = np.exp((first - second) * logarithm) * np.expm1(logarithm)
    return float(left / -np.expm1(-second * logarithm))
