"""Rules of thumb for the buffer in front of the client."""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, together


def sum_of_windows(flows: ArrayLike, window: ArrayLike) -> Floats:
    """Return N·E[W], packets: the buffer that holds all windows at once.

    The rule "B ~ N x(t)" of the survey of transports in HPC clusters (its equation 5) sets packets
    against packets per second. Since its equation 1 is x = E[W]/RTT, N·x·RTT = N·E[W] is what has
    the unit. It assumes that every packet in flight waits, so it is enough for any path.

    Parameters
    ----------
    flows
        N.
    window
        E[W], packets; 64 KB of 600-byte packets are 109.
    """
    flows, window = together(flows, window)
    return floats(flows * window)


def flows_that_fill(buffer: ArrayLike, window: ArrayLike) -> Floats:
    """Return the smallest N whose windows sum to more than `buffer` packets."""
    buffer, window = together(buffer, window)
    return floats(np.floor(buffer / window) + 1)


def heartbeats(buffer: ArrayLike, threshold: ArrayLike, packet: ArrayLike = 1500) -> Floats:
    """Return how many servers PLATO's reserve serves: (1 - Th_P)·Q / (2·packet).

    The part of the buffer above the label threshold takes labelled packets only; each server has
    one labelled packet and the answer to the last one there at the worst.

    Parameters
    ----------
    buffer
        Q, bytes.
    threshold
        Th_P, share of the buffer, 0 to 1.
    packet
        Bytes of a full packet.
    """
    buffer, threshold, packet = together(buffer, threshold, packet)
    return floats((1 - threshold) * buffer / (2 * packet))
