"""The number of packets that arrive at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from incast.models.numbers import Floats

NEGLIGIBLE = 1e-30
"""Remaining probability at which a geometric distribution is cut off."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The distribution of the size of a batch, at least one packet.

    Parameters
    ----------
    probabilities
        P(1 packet), P(2 packets), ...
    """

    probabilities: ArrayLike

    @classmethod
    def constant(cls, size: int) -> Batch:
        """Return batches of `size` packets each, such as the bursts of a window."""
        if size < 1 or int(size) != size:
            raise ValueError("the size of a batch must be a whole number of at least 1")
        return cls(np.eye(1, int(size), int(size) - 1)[0])

    @classmethod
    def geometric(cls, mean: float) -> Batch:
        """Return geometrically distributed batches with `mean` packets on average, at least 1."""
        if not mean >= 1:
            raise ValueError("the mean size of a batch must be at least 1")
        more = 1 - 1 / mean
        longest = int(np.ceil(np.log(NEGLIGIBLE) / np.log(more))) + 1 if more else 1
        return cls((1 - more) * more ** np.arange(longest))

    @classmethod
    def empirical(cls, sizes: ArrayLike) -> Batch:
        """Return batches as observed: each of the whole numbers `sizes` is equally likely."""
        observed = np.asarray(sizes)
        if observed.size == 0 or (observed < 1).any() or (observed != observed.astype(int)).any():
            raise ValueError("sizes of batches must be one or more whole numbers of at least 1")
        return cls(np.bincount(observed.astype(int).ravel())[1:] / observed.size)

    @cached_property
    def pmf(self) -> Floats:
        """P(X = k) for k = 0, 1, ...; P(X = 0) is zero."""
        given = np.asarray(self.probabilities, float).ravel()
        if given.size == 0 or (given < 0).any() or not given.sum() > 0:
            raise ValueError("probabilities of batch sizes must be at least 0, and not all 0")
        return np.concatenate([[0.0], given / given.sum()])

    @cached_property
    def mean(self) -> float:
        """E[X], packets."""
        return float(self.pmf @ np.arange(self.pmf.size))

    @cached_property
    def second_moment(self) -> float:
        """E[X²]."""
        return float(self.pmf @ np.arange(self.pmf.size) ** 2)

    def excess(self, capacity: int) -> Floats:
        """Return E[(X - c)^+], c = 0 .. capacity: the mean loss of a batch if c places are free."""
        tails = np.zeros(max(capacity + 1, self.pmf.size) + 1)
        tails[: self.pmf.size - 1] = self.pmf[::-1].cumsum()[::-1][1:]
        return tails[::-1].cumsum()[::-1][: capacity + 1]
