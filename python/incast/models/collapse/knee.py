"""The collapse point: the first number of servers at which a read collapses."""

import numpy as np

from incast.models.collapse.answers import forecast
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats

MOST_SERVERS = 256
_AT_ONCE = 4  # numbers tried before those that have collapsed are left out


def servers_tried(most: int = MOST_SERVERS) -> list[int]:
    """Return the numbers of servers that are tried: all up to 12, then in steps of 8 %."""
    tried = list(range(2, min(12, most) + 1))
    while tried[-1] < most:
        tried.append(min(most, max(tried[-1] + 1, round(tried[-1] * 1.08))))
    return tried


def first_collapse(reads: Reads, most: int = MOST_SERVERS) -> Floats:
    """Return the first number of servers at which each read collapses.

    Parameters
    ----------
    reads
        Their own numbers of servers do not matter.
    most
        The largest number of servers that is tried.

    Returns
    -------
    array, one element per read
        The number of servers; NaN where none up to `most` collapses.
    """
    found = np.full(len(reads), np.nan)
    tried = servers_tried(most)
    for first in range(0, len(tried), _AT_ONCE):
        some = tried[first : first + _AT_ONCE]
        open_ = np.flatnonzero(np.isnan(found))
        if not open_.size:
            break
        collapsed = forecast(reads.take(open_).with_servers(some)).collapsed
        collapsed = collapsed.reshape(len(open_), -1)
        hit = collapsed.any(axis=1)
        found[open_[hit]] = np.array(some, dtype=float)[np.argmax(collapsed[hit], axis=1)]
    return found
