"""What the formulas compute with: scalars and arrays alike, broadcast against each other."""

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
