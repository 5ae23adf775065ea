"""Rules of thumb for the buffer in front of the client."""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, together


def sum_of_windows(flows: ArrayLike, window: ArrayLike) -> Floats:
    """Return N·E[W], the buffer that holds all windows at once, in packets.

    The survey of transports in HPC clusters has the rule "B ~ N x(t)" (its equation 5), which
    equates packets with packets per second. With the survey's own x = E[W]/RTT (its equation 1),
    N·x·RTT = N·E[W] has the right unit. The rule assumes that every packet in flight waits in the
    buffer, so the buffer is large enough for any path.

    Parameters
    ----------
    flows
        N.
    window
        E[W], packets. A window of 64 KB has 109 packets of 600 bytes.
    """
    flows, window = together(flows, window)
    return floats(flows * window)


def flows_that_fill(buffer: ArrayLike, window: ArrayLike) -> Floats:
    """Return the smallest number of flows whose windows sum to more than `buffer` packets."""
    buffer, window = together(buffer, window)
    return floats(np.floor(buffer / window) + 1)


def heartbeats(buffer: ArrayLike, threshold: ArrayLike, packet: ArrayLike = 1500) -> Floats:
    """Return how many servers PLATO's reserve supports: (1 - Th_P)·Q / (2·packet).

    The part of the buffer above the label threshold takes labelled packets only. In the worst case,
    this part holds two labelled packets of each server: a heartbeat and a retransmission.

    Parameters
    ----------
    buffer
        Q, bytes.
    threshold
        Th_P, a share of the buffer, from 0 to 1.
    packet
        Bytes of a full packet.
    """
    buffer, threshold, packet = together(buffer, threshold, packet)
    return floats((1 - threshold) * buffer / (2 * packet))
