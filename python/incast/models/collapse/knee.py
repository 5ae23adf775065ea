"""The collapse point: the first number of servers at which a read collapses."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incast.models.collapse.answers import forecast
from incast.models.collapse.blocks import SEARCH, Effort
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats

MOST_SERVERS = 256
STEP, CLOSE = 1.25, 0.03


def servers_tried(most: int = MOST_SERVERS) -> list[int]:
    """Return the numbers of servers to try: from 2 to 12, then each larger by a quarter."""
    tried = list(range(2, min(12, most) + 1))
    while tried[-1] < most:
        tried.append(min(most, round(tried[-1] * STEP)))
    return tried


def first_collapse(reads: Reads, most: int = MOST_SERVERS, effort: Effort = SEARCH) -> Floats:
    """Return the first number of servers at which each read collapses.

    The search tries growing numbers of servers until the read collapses. Bisection between the last
    two numbers then finds the first collapse, to 3 %.

    Parameters
    ----------
    reads
        The reads; their own numbers of servers are ignored.
    most
        The largest number of servers that is tried.
    effort
        The effort of the simulation for each number of servers.

    Returns
    -------
    array, one element per read
        The number of servers; NaN where the read does not collapse with up to `most` servers.
    """
    found, before = np.full(len(reads), np.nan), np.ones(len(reads))
    for servers in servers_tried(most):
        open_ = np.flatnonzero(np.isnan(found))
        if not open_.size:
            break
        tried = np.full(len(open_), float(servers))
        hit = _collapsed(reads, open_, tried, effort)
        found[open_[hit]] = servers
        before[open_[~hit]] = servers
    while (open_ := np.flatnonzero(found - before > np.maximum(1.0, CLOSE * found))).size:
        tried = (before[open_] + found[open_]) // 2
        hit = _collapsed(reads, open_, tried, effort)
        found[open_[hit]] = tried[hit]
        before[open_[~hit]] = tried[~hit]
    return found


def _collapsed(
    reads: Reads, chosen: NDArray[np.int64], servers: Floats, effort: Effort
) -> NDArray[np.bool_]:
    predicted = forecast(replace(reads.take(chosen), servers=servers), effort)
    return predicted.collapsed
