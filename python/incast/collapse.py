"""The one definition of collapse, for rows, verdicts, models and studies.

docs/reference/collapse.md says it in words, and why it is so.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST_SHARE = 0.5
"""Share of the lossless goodput below which a read may have collapsed."""
LEAST_TIMEOUTS = 0.5
"""Timeouts per block that then suffice, however long each of them is."""
LEAST_WAIT = 0.5
"""Share of the lost time that the waits for rarer ones make up at least."""


def collapsed(
    goodput: ArrayLike,
    lossless: ArrayLike,
    bits: ArrayLike,
    timeouts: ArrayLike,
    waits_s: ArrayLike,
) -> NDArray[np.bool_]:
    """Say whether reads have collapsed: below half of the lossless goodput, by timeouts.

    Parameters
    ----------
    goodput, lossless
        What is achieved, and what the same read gives without losses; bit/s.
    bits
        Application bits of a block, or of the run where there are no blocks.
    timeouts
        Timeouts of a block; NaN where there are no blocks.
    waits_s
        Seconds that the timeouts of a block, or of the run, last at least.

    Returns
    -------
    array of bool
        Elementwise, by the usual rules of broadcasting.
    """
    goodput, lossless, bits = (np.asarray(one, float) for one in (goodput, lossless, bits))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lost_s = bits / goodput - bits / lossless
        often = np.asarray(timeouts, float) >= LEAST_TIMEOUTS
        long = (np.asarray(waits_s, float) > 0) & (
            np.asarray(waits_s, float) >= LEAST_WAIT * lost_s
        )
        return np.asarray((goodput < LEAST_SHARE * lossless) & (often | long))
