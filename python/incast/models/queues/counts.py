"""The number of packets that arrive during a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from incast.models.numbers import Floats

    from .batch import Batch
    from .service import Mixture, Service

MOST_ARRIVALS = 200.0
"""Maximum of the mean number of batches in a service of the longest kind, which is the part of the
mixture with the largest mean. (e^-200 is not rounded to 0.)"""
ROOM = 1 << 20
"""Number of terms that are computed at once."""
NEGLIGIBLE = 1e-60
"""`compound` leaves out the largest numbers of batches, if their total probability is at most this
share of the sum."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """The number A of packets that arrive while one packet is served.

    Parameters
    ----------
    pmf
        P(A = m), m = 0, 1, ...
    beyond
        P(A > m).
    time
        Mean time of a service during which m packets have arrived so far, in seconds. The sum over
        m is E[S].
    time_from
        Mean time of a service during which m or more packets have arrived so far, in seconds.
    """

    pmf: Floats
    beyond: Floats
    time: Floats
    time_from: Floats


def arrivals(rate: float, service: Service, batch: Batch | None, capacity: int) -> Arrivals:
    """Return the distribution of the number of arrivals in a service, to well above `capacity`.

    Parameters
    ----------
    rate
        Packets per second.
    service
        Distribution of the service time.
    batch
        Distribution of the size of a batch; None means single packets.
    capacity
        Number of arrivals that matter. The arrays are longer than this number, so that their tails
        are accurate, too.

    Raises
    ------
    ValueError
        On average, more than 200 batches arrive in a service of the longest kind.

    Notes
    -----
    The number of batches in a service has the distribution w(n), a mixture of Poisson
    distributions. With the generating function X(z) of the batch sizes, A(z) = sum w(n) X(z)^n.
    During a service, the mean time in which exactly n batches have arrived is P(more than n)/(batch
    rate): batches arrive at the batch rate, and the next batch arrives within the service with
    probability P(more than n). All terms are positive, so no terms cancel.
    """
    batches = rate / (batch.mean if batch else 1.0)
    mixture = service.mixture
    longest = float(batches * mixture.means.max())
    if longest > MOST_ARRIVALS:
        raise ValueError(
            f"{longest:.3g} arrivals in the longest service are too many; must be at most "
            f"{MOST_ARRIVALS:g}"
        )
    more = 64 + int(45 * (1 + longest))
    scale = 1 if batch is None else int(np.ceil(batch.second_moment / batch.mean))
    count = batch_counts(batches, mixture, capacity + more)
    beyond = tails(count)
    length = capacity + more * scale
    pmf = compound(count, batch, length)
    time = compound(beyond / batches, batch, length)
    return Arrivals(pmf, tails(pmf), time, time + tails(time))


def tails(values: Floats) -> Floats:
    """Return for each element the sum of the later elements, added from the end."""
    sums = values[::-1].cumsum()[::-1]
    return np.append(sums[1:], 0.0)


def batch_counts(rate: float, mixture: Mixture, length: int) -> Floats:
    """Return P(n arrivals in a service), n = 0 .. length - 1, for Poisson arrivals at `rate`.

    The distribution is negative binomial for a gamma part of shape k, and Poisson for a constant.
    """
    pmf = np.zeros(length)
    order = np.argsort(mixture.means)
    rows = max(1, ROOM // length)
    for start in range(0, order.size, rows):
        chunk = order[start : start + rows]
        means, shapes = rate * mixture.means[chunk], mixture.shapes[chunk]
        reach = _terms(means.max(keepdims=True), shapes.min(keepdims=True), length)[0]
        used = int(np.flatnonzero(reach)[-1]) + 1
        pmf[:used] += mixture.weights[chunk] @ _terms(means, shapes, used)
    return pmf


def _terms(means: Floats, shapes: Floats, length: int) -> Floats:
    from scipy.special import gammaln

    n = np.arange(length)
    means, shapes = means[:, None], shapes[:, None]
    constant = np.isinf(shapes)
    k = np.where(constant, 1.0, shapes)
    ratio = means / k
    gamma = gammaln(n + k) - gammaln(k) + n * np.log(ratio / (1 + ratio)) - k * np.log1p(ratio)
    poisson = n * np.log(means) - means
    return np.asarray(np.exp(np.where(constant, poisson, gamma) - gammaln(n + 1)))


def compound(count: Floats, batch: Batch | None, length: int) -> Floats:
    """Return the coefficients of sum count(n) X(z)^n, by Horner's rule."""
    if batch is None:
        return np.pad(count, (0, max(0, length - count.size)))[:length]
    kept = int(np.searchsorted(-tails(count), -NEGLIGIBLE * count.sum())) + 1
    size = batch.pmf[:length]
    total = np.zeros(1)
    for weight in count[:kept][::-1]:
        total = np.convolve(total, size)[:length]
        total[0] += weight
    return np.pad(total, (0, length - total.size))
