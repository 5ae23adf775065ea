"""The number of places that keeps the loss below a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .closed import MM1K
    from .several import MGnK
    from .single import MG1K

MOST_PLACES = 200_000
"""Largest buffer that is tried, in places."""


def smallest_buffer(queue: MG1K | MM1K | MGnK, target_loss: float) -> int:
    """Return the smallest buffer with which at most a share `target_loss` of packets is lost.

    Parameters
    ----------
    queue
        Any finite queue. The queue's own capacity is ignored.
    target_loss
        The largest share of the packets that may find no place, between 0 and 1.

    Returns
    -------
    int
        B: the number of waiting places without the packets in service, so that K = B + servers. If
        the switch counts the packet in service (`network.buffer_counts_in_service`), the buffer
        needs one place more.

    Raises
    ------
    ValueError
        A buffer of more than 200 000 places would be needed, or no buffer is large enough. At a
        load rho >= 1, at least a share 1 - 1/rho of the packets is lost.
    """
    if not 0 < target_loss < 1:
        raise ValueError("target_loss must be above 0 and below 1")
    least = 1 - 1 / queue.load
    if target_loss <= least:
        raise ValueError(
            f"at a load of {queue.load:g}, a share of {least:.3g} or more is lost with any buffer; "
            f"target_loss {target_loss:g} must be above that"
        )

    def suffices(places: int) -> bool:
        return replace(queue, capacity=places + queue.in_service).blocking <= target_loss

    enough = 1
    while not suffices(enough):
        if enough >= MOST_PLACES:
            raise ValueError(f"more than {MOST_PLACES} places would be needed")
        enough = min(2 * enough, MOST_PLACES)
    short = enough // 2 if enough > 1 else -1
    while enough - short > 1:
        middle = (short + enough) // 2
        short, enough = (short, middle) if suffices(middle) else (middle, enough)
    return enough
