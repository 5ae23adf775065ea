"""The one definition of collapse, for rows, verdicts, models and studies.

docs/reference/collapse.md describes this definition and gives the reasons for it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAST_SHARE = 0.5
"""Share of the lossless goodput below which a read may have collapsed."""
LEAST_TIMEOUTS = 0.5
"""Timeouts per block. A read below `LEAST_SHARE` with this many or more has collapsed.

The duration of these timeouts does not matter.
"""
LEAST_WAIT = 0.5
"""Share of the lost time, which is a block's time minus its time in the read without losses.

A read below `LEAST_SHARE` with fewer timeouts than `LEAST_TIMEOUTS` has collapsed, too, if its
timeouts last at least this share of the lost time.
"""


def collapsed(
    goodput: ArrayLike,
    lossless: ArrayLike,
    bits: ArrayLike,
    timeouts: ArrayLike,
    waits_s: ArrayLike,
) -> NDArray[np.bool_]:
    """Return whether reads have collapsed: timeouts keep them below half of the lossless goodput.

    Parameters
    ----------
    goodput, lossless
        The goodput of a read, and the goodput of the same read without losses, in bit/s.
    bits
        Application bits of a block, or of the whole run if it has no blocks.
    timeouts
        Timeouts per block; NaN if the run has no blocks.
    waits_s
        Minimum duration of the timeouts of a block, or of the run, in seconds.

    Returns
    -------
    array of bool
        One element per read. The arguments are broadcast.
    """
    goodput, lossless, bits = (np.asarray(one, float) for one in (goodput, lossless, bits))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lost_s = bits / goodput - bits / lossless
        often = np.asarray(timeouts, float) >= LEAST_TIMEOUTS
        long = (np.asarray(waits_s, float) > 0) & (
            np.asarray(waits_s, float) >= LEAST_WAIT * lost_s
        )
        return np.asarray((goodput < LEAST_SHARE * lossless) & (often | long))
