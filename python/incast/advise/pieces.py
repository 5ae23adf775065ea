"""Blocks that are read in pieces: compute the time of a block from the times of its pieces."""

from collections.abc import Sequence

import numpy as np

from incast.results.pooled import PERCENTILES, percentile

_MEAN, _BLOCKS = "completion_s", "blocks"


def joined(times: Sequence[float], pieces: int) -> list[float]:
    """Return the seconds of whole blocks, each of which consists of `pieces` consecutive pieces."""
    whole = len(times) // pieces
    return [float(sum(times[n * pieces : (n + 1) * pieces])) for n in range(whole)]


def of_whole(column: str, value: float, times: Sequence[float], pieces: int) -> float | None:
    """Return the value of a column of a run, for whole blocks instead of pieces.

    Parameters
    ----------
    column
        The name of the column.
    value
        The value of the column for the pieces.
    times
        Seconds that each piece took, in the order of the pieces.
    pieces
        Number of pieces in a block.

    Returns
    -------
    float or None
        The value for whole blocks; None if no block is whole.
    """
    if pieces == 1:
        return value
    blocks = joined(times, pieces)
    if column == _BLOCKS:
        return float(len(blocks))
    if column == _MEAN:
        return float(np.mean(blocks)) if blocks else None
    if column in PERCENTILES:
        return percentile(np.sort(blocks), PERCENTILES[column]) if blocks else None
    return value
