"""The windows of n synchronised flows whose losses all end in a fast retransmit (§3.1.1.2).

The flows are in congestion avoidance and send in rounds. Each packet of any flow ends a period with
the probability p_c, and then j of the n flows halve their windows.
"""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, probability, together


def flows_per_event(
    flows: ArrayLike, event_ratio: ArrayLike, indication_ratio: ArrayLike
) -> Floats:
    """Return j = p_r / p_c, the mean number of flows that a loss event hits, from 1 to n.

    Parameters
    ----------
    flows
        n.
    event_ratio
        p_c, loss events of all flows together per packet.
    indication_ratio
        p_r, loss indications of a flow per packet that it sends.
    """
    flows, p_c, p_r = together(flows, event_ratio, indication_ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(p_c > 0, p_r / p_c, 1.0)
    return floats(np.clip(ratio, 1, flows))


def rounds_per_packet(
    flows: ArrayLike, hit: ArrayLike, event_ratio: ArrayLike, window_limit: ArrayLike = np.inf
) -> Floats:
    """Return p_c·E[X], the mean number of rounds per packet.

    Parameters
    ----------
    flows, hit
        n and j.
    event_ratio
        p_c, from 0 to 1.
    window_limit
        W_m, packets: the receiver's window of each flow. The text has no such limit, but
        names it as the first item of its future work.

    Returns
    -------
    array
        Without a limit, E[X] is (3.19), the positive root of equation (3.18), in a form in which
        no terms cancel.

        If the mean window of a flow at a loss, 2·n·E[X]/j, would exceed W_m, the window grows from
        W_m/2 to W_m and stays there. The flow then sends 1/(j·p_c) packets between its losses, in
        X_f = 1/(j·p_c·W_m) + W_m/8 rounds, and E[X] = (j/n)·X_f by (3.7). The two forms of E[X]
        agree to leading order where they meet.
    """
    n, j, p, limit = together(flows, hit, probability(event_ratio, "event_ratio"), window_limit)
    linear = p * j * (2 * j - n)
    root = np.sqrt(linear**2 + 24 * n**2 * p * j)
    with np.errstate(divide="ignore", invalid="ignore"):
        falling = np.where(root > 0, 4 * p * j / (root - linear), 0.0)
        free = np.where(linear < 0, falling, (linear + root) / (6 * n**2))
        # Whether the window at a loss, 2·n·E[X]/j, would exceed the limit.
        capped = 2 * n * free > p * j * limit
        flat = (1 / limit + j * p * limit / 8) / n
    return floats(np.where(capped | ((p == 0) & np.isfinite(limit)), flat, free))


def rounds(
    flows: ArrayLike, hit: ArrayLike, event_ratio: ArrayLike, window_limit: ArrayLike = np.inf
) -> Floats:
    """Return E[X], rounds between two loss events (3.19); below 1 the model is invalid."""
    share, p = together(rounds_per_packet(flows, hit, event_ratio, window_limit), event_ratio)
    with np.errstate(divide="ignore", invalid="ignore"):
        return floats(np.where(p > 0, share / p, np.inf))


def flow_window(
    flows: ArrayLike, hit: ArrayLike, event_ratio: ArrayLike, window_limit: ArrayLike = np.inf
) -> Floats:
    """Return E[W_f] = 2·n·E[X]/j (3.7, 3.12), the window of a flow at its loss, in packets."""
    n, j, limit = together(flows, hit, window_limit)
    return floats(np.minimum(2 * n * rounds(flows, hit, event_ratio) / j, limit))


def window(flows: ArrayLike, hit: ArrayLike, event_ratio: ArrayLike) -> Floats:
    """Return E[W] = n·E[X]/2 + 3·n²·E[X]/(2·j) (3.14, 3.20), the sum of the windows at a loss."""
    n, j = together(flows, hit)
    return floats(rounds(flows, hit, event_ratio) * (n / 2 + 3 * n**2 / (2 * j)))
