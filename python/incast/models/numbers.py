"""The arguments and results of formulas: scalars and arrays, which are broadcast together."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
"""The type that formulas return: an array of the broadcast shape; scalars give no axes."""


def floats(value: ArrayLike) -> Floats:
    """Return an array of floats."""
    return np.asarray(value, dtype=np.float64)


def together(*values: ArrayLike) -> list[Floats]:
    """Return arrays of floats, broadcast to one shape. Do not write to these arrays."""
    return [floats(value) for value in np.broadcast_arrays(*values)]


def probability(value: ArrayLike, name: str) -> Floats:
    """Return probabilities as an array.

    Raises
    ------
    ValueError
        A value is below 0 or above 1.
    """
    values = floats(value)
    if not np.all((values >= 0) & (values <= 1)):
        raise ValueError(f"{name}: a probability must be from 0 to 1, not {values}")
    return values
