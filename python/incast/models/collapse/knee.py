"""The collapse point: the first number of servers at which a read collapses.

It is looked for as a simulation would be, which is what the model is judged by: upwards in steps of
a quarter, then by halving. Where the goodput hovers around the threshold, finer steps would find an
earlier crossing by chance.
"""

from dataclasses import replace

import numpy as np

from incast.models.collapse.answers import forecast
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats, floats

MOST_SERVERS = 256
STEP = 1.25
NEAR = 0.03
"""How closely halving finds the number, relative."""
_AT_ONCE = 3  # numbers tried before those that have collapsed are left out


def servers_tried(most: int = MOST_SERVERS) -> list[int]:
    """Return the numbers of servers that are tried: all up to 12, then in steps of a quarter."""
    tried = list(range(2, min(12, most) + 1))
    while tried[-1] < most:
        tried.append(min(most, round(tried[-1] * STEP)))
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
    before, found = np.ones(len(reads)), np.full(len(reads), np.nan)
    tried = servers_tried(most)
    for first in range(0, len(tried), _AT_ONCE):
        some = tried[first : first + _AT_ONCE]
        open_ = np.flatnonzero(np.isnan(found))
        if not open_.size:
            break
        collapsed = forecast(reads.take(open_).with_servers(some)).collapsed
        collapsed = collapsed.reshape(len(open_), -1)
        hit = collapsed.any(axis=1)
        place = first + np.argmax(collapsed[hit], axis=1)
        found[open_[hit]] = floats(tried)[place]
        before[open_[hit]] = floats([1, *tried])[place]
    while True:
        wide = np.flatnonzero(found - before > np.maximum(1.0, NEAR * found))
        if not wide.size:
            return found
        middle = np.floor((before[wide] + found[wide]) / 2)
        collapsed = forecast(replace(reads.take(wide), servers=middle)).collapsed
        found[wide[collapsed]] = middle[collapsed]
        before[wide[~collapsed]] = middle[~collapsed]
