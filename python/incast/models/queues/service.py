"""Distributions of service times.

Every distribution here is a mixture of gamma distributions with integer shapes. A constant is a
gamma distribution with an infinite shape. The number of Poisson arrivals in a service is therefore
a mixture of negative binomial and Poisson distributions, whose terms are all positive (`counts`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from incast.models.numbers import Floats

PROBABILITY_SLACK = 1e-9
"""Largest difference between 1 and the sum of given probabilities."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of distributions. Each service time comes from a part that is chosen at random.

    Parameters
    ----------
    weights
        Probability of each part.
    means
        Mean of each part, seconds.
    shapes
        Number of exponential stages of each part; infinite for a constant.
    """

    weights: Floats
    means: Floats
    shapes: Floats

    def moment(self, order: int) -> float:
        """Return E[S^order], seconds^order."""
        parts = self.weights * self.means**order
        for i in range(1, order):
            parts = parts * (1 + i / self.shapes)
        return float(parts.sum())

    def survival(self, time: ArrayLike) -> Floats:
        """Return P(S > t) for every t, in seconds."""
        from scipy.special import gammaincc

        t = np.asarray(time, float)
        weights, means, shapes = self._gamma
        gamma = gammaincc(shapes, shapes * t[..., None] / means) @ weights
        longer, _ = self._constants(t)
        return np.asarray(longer + gamma)

    def residual_survival(self, time: ArrayLike) -> Floats:
        """Return P(S_e > t), where S_e is the residual service time."""
        from scipy.special import gammaincc

        t = np.asarray(time, float)
        weights, means, shapes = self._gamma
        past = t[..., None]
        scaled = shapes * past / means
        left = means * gammaincc(shapes + 1, scaled) - past * gammaincc(shapes, scaled)
        longer, theirs = self._constants(t)
        gamma = np.maximum(left, 0) @ weights
        return np.asarray((theirs - t * longer + gamma) / self.moment(1))

    @cached_property
    def _gamma(self) -> tuple[Floats, Floats, Floats]:
        kept = np.isfinite(self.shapes)
        return self.weights[kept], self.means[kept], self.shapes[kept]

    def _constants(self, time: Floats) -> tuple[Floats, Floats]:
        """Return P(S is a constant > t), and E[S; S is a constant > t]."""
        kept = np.isinf(self.shapes)
        order = np.argsort(self.means[kept])
        means, weights = self.means[kept][order], self.weights[kept][order]
        first = np.searchsorted(means, time, side="right")
        sums = (np.append(it[::-1].cumsum()[::-1], 0.0) for it in (weights, weights * means))
        longer, theirs = (it[first] for it in sums)
        return longer, theirs


class Service(ABC):
    """A distribution of service times."""

    @property
    @abstractmethod
    def mixture(self) -> Mixture:
        """The distribution as a mixture of gamma distributions."""

    @cached_property
    def mean(self) -> float:
        """E[S], seconds."""
        return self.mixture.moment(1)

    @cached_property
    def scv(self) -> float:
        """Squared coefficient of variation: variance / mean²."""
        return self.mixture.moment(2) / self.mean**2 - 1


def _mixture(weights: ArrayLike, means: ArrayLike, shape: float) -> Mixture:
    times = np.atleast_1d(np.asarray(means, float))
    if not (np.isfinite(times).all() and (times > 0).all()):
        raise ValueError("a service time must be a positive, finite number of seconds")
    shares = np.broadcast_to(np.asarray(weights, float), times.shape)
    return Mixture(shares, times, np.full(times.shape, shape))


@dataclass(frozen=True)
class Deterministic(Service):
    """Every packet takes `time` seconds, as packets of one size do (M/D/1)."""

    time: float

    @cached_property
    def mixture(self) -> Mixture:
        """One constant."""
        return _mixture(1.0, self.time, np.inf)


@dataclass(frozen=True)
class Exponential(Service):
    """Service times are exponentially distributed with a mean of `time` seconds (M/M/1)."""

    time: float

    @cached_property
    def mixture(self) -> Mixture:
        """One stage."""
        return _mixture(1.0, self.time, 1.0)


@dataclass(frozen=True)
class Erlang(Service):
    """A service time is the sum of equal exponential stages, with a mean of `time` seconds."""

    stages: int
    time: float

    @cached_property
    def mixture(self) -> Mixture:
        """One gamma distribution."""
        if self.stages < 1 or int(self.stages) != self.stages:
            raise ValueError("stages must be a whole number of at least 1")
        return _mixture(1.0, self.time, float(self.stages))


@dataclass(frozen=True)
class HyperExponential(Service):
    """Exponential service with a mean of `times[i]` s, with the probability `probabilities[i]`."""

    probabilities: Sequence[float]
    times: Sequence[float]

    @cached_property
    def mixture(self) -> Mixture:
        """One exponential stage for each mean."""
        return _mixture(_probabilities(self.probabilities, len(self.times)), self.times, 1.0)


@dataclass(frozen=True, eq=False)
class Empirical(Service):
    """Observed service times, which are equally likely or have weights.

    Parameters
    ----------
    samples
        Service times in seconds. For a trace, these are sizes x 8 / rate.
    weights
        Probability of each sample; by default, all samples are equally likely. For a mix of packet
        sizes, give one sample per size, and the shares of the sizes as weights.
    """

    samples: ArrayLike
    weights: Sequence[float] | None = None

    @cached_property
    def mixture(self) -> Mixture:
        """One constant for each value."""
        samples = np.asarray(self.samples, float).ravel()
        if samples.size == 0:
            raise ValueError("an empirical service time must have at least one sample")
        if self.weights is None:
            values, counts = np.unique(samples, return_counts=True)
            return _mixture(counts / samples.size, values, np.inf)
        return _mixture(_probabilities(self.weights, samples.size), samples, np.inf)


def _probabilities(given: Any, count: int) -> Floats:  # noqa: ANN401 (whatever NumPy accepts)
    shares = np.asarray(given, float)
    if shares.shape != (count,) or (shares < 0).any():
        raise ValueError(f"{count} probabilities are needed, each at least 0")
    if abs(shares.sum() - 1) > PROBABILITY_SLACK:
        raise ValueError(f"probabilities must sum to 1, not to {shares.sum():g}")
    return np.asarray(shares / shares.sum())
