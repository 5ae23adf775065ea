"""Numbers of the formulas: scalars and arrays, broadcast against each other."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
"""What every formula returns: an array of the broadcast shape (of no axes for scalars)."""


def floats(value: ArrayLike) -> Floats:
    """Return an array of floats."""
    return np.asarray(value, dtype=np.float64)


def together(*values: ArrayLike) -> list[Floats]:
    """Return arrays of floats, broadcast to one shape; they must not be written to."""
    return [floats(value) for value in np.broadcast_arrays(*values)]


def probability(value: ArrayLike, name: str) -> Floats:
    """Return probabilities as an array.

    Raises
    ------
    ValueError
        One is not from 0 to 1.
    """
    values = floats(value)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"{name}: a probability must be from 0 to 1, not {values}")
    return values
