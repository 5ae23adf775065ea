"""The throughput of one long TCP flow, by its rate of losses: the PFTK equation.

Padhye, Firoiu, Towsley, Kurose: Modeling TCP Reno Performance: A Simple Model and Its Empirical
Validation, IEEE/ACM Transactions on Networking 8(2), 2000. A flow without an end sends in rounds of
one round trip; the first packet lost in a round loses all that follow it there, and rounds are
independent. p is the chance that a packet is lost that is first in its round or follows one that
was not. Not modelled: slow start, fast recovery, the start and stop of synchronised reads.
"""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, probability, together

DUPLICATES = 3
"""Duplicate ACKs that make a fast retransmit; fewer end in a timeout."""


def timeout_probability(window: ArrayLike, loss: ArrayLike) -> Floats:
    """Return Q^(w), the chance that a loss in a window of w packets ends in a timeout.

    k packets of the window's round arrive before the first loss, they release k more, of which m
    arrive; a timeout follows unless m is 3 at least. Summed up, with q = 1 - p,

        Q^(w) = min(1, (1 - q³)(1 + q³(1 - q^(w-3))) / (1 - q^w)),   1 for w ≤ 3

    (PFTK's equation 24), which also is equation (3.34) of Kulkarni & Agrawal up to k = w - 1.

    Parameters
    ----------
    window
        w, packets, at least 1; need not be whole.
    loss
        p, from 0 to 1; at 0 the limit 3/w.

    Raises
    ------
    ValueError
        A loss is not a probability.
    """
    window, loss = together(window, probability(loss, "loss"))
    size = np.maximum(window, DUPLICATES)
    few = share_below(DUPLICATES, size, loss)
    q3 = (1 - loss) ** DUPLICATES
    # P(K < 3) + P(K ≥ 3) P(M < 3).
    late = (1 - few) * (1 - q3)
    return floats(np.where(window <= DUPLICATES, 1.0, np.minimum(few + late, 1.0)))


def share_below(count: ArrayLike, window: ArrayLike, loss: ArrayLike) -> Floats:
    """Return (1 - q^k) / (1 - q^w): fewer than k of w packets precede the first loss, given one.

    Parameters
    ----------
    count, window
        k and w, packets; k is cut to w.
    loss
        p; at 0 the limit k/w.
    """
    count, window, loss = together(count, window, loss)
    count = np.minimum(count, window)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log1p(-loss)
        share = np.expm1(count * logarithm) / np.expm1(window * logarithm)
    return floats(np.where(loss > 0, share, count / window))


def backoff(loss: ArrayLike) -> Floats:
    """Return f(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶ (PFTK, after equation 28).

    f(p)/(1 - p) is the mean length of a sequence of timeouts in units of the first, where each
    fails again with p and the timer doubles up to 64 times its first length.
    """
    loss = floats(loss)
    return floats(
        1
        + loss * (1 + 2 * loss * (1 + 2 * loss * (1 + 2 * loss * (1 + 2 * loss * (1 + 2 * loss)))))
    )


def unlimited_window(loss: ArrayLike, ack_ratio: ArrayLike = 1) -> Floats:
    """Return W_u, packets: the mean window at the end of a period between losses (PFTK, 13).

    Parameters
    ----------
    loss
        p; at 0 infinite.
    ack_ratio
        b, packets per ACK: 1, or 2 with delayed ACKs.
    """
    loss, b = together(probability(loss, "loss"), ack_ratio)
    slope = (2 + b) / (3 * b)
    with np.errstate(divide="ignore"):
        return floats(slope + np.sqrt(8 * (1 - loss) / (3 * b * loss) + slope**2))


def throughput(
    loss: ArrayLike,
    rtt: ArrayLike,
    timeout: ArrayLike,
    window_limit: ArrayLike = np.inf,
    ack_ratio: ArrayLike = 1,
) -> Floats:
    """Return the packets per second that a flow sends, lost ones among them (PFTK, 30 and 31).

    Parameters
    ----------
    loss
        p.
    rtt
        Mean round trip, seconds.
    timeout
        T0, mean length of a single timeout, seconds.
    window_limit
        W_m, packets: the receiver's window.
    ack_ratio
        b, packets per ACK.

    Returns
    -------
    array
        W_m / rtt for p = 0, 1 / (64 T0) for p = 1. The two equations meet where W_u = W_m within a
        few per cent, not exactly.
    """
    loss, rtt, timeout, limit, b = together(
        probability(loss, "loss"), rtt, timeout, window_limit, ack_ratio
    )
    q = 1 - loss
    window = np.minimum(unlimited_window(loss, b), limit)
    chance = timeout_probability(window, loss)
    grows = unlimited_window(loss, b) < limit
    with np.errstate(divide="ignore", invalid="ignore"):
        # Both sides of the quotient times p (1 - p), so that neither end of p is a special case.
        packets = np.where(loss > 0, q**2 + loss * q * window + loss * chance, 1.0)
        flat = loss * q * (b * window / 8 + 2) + q**2 / window
        rounds = np.where(
            grows, loss * q * (b * window / 2 + 1), np.where(loss > 0, flat, 1 / window)
        )
    waiting = loss * chance * timeout * backoff(loss)
    with np.errstate(divide="ignore"):
        return floats(packets / (rtt * rounds + waiting))


def approximate(
    loss: ArrayLike,
    rtt: ArrayLike,
    timeout: ArrayLike,
    window_limit: ArrayLike = np.inf,
    ack_ratio: ArrayLike = 1,
) -> Floats:
    """Return PFTK's short form (32), packets per second; parameters as in `throughput`.

    Close for windows far from their limit and small p. At the limit it is too high: more than
    twice at p = 0.001 and W_m = 20.
    """
    loss, rtt, timeout, limit, b = together(
        probability(loss, "loss"), rtt, timeout, window_limit, ack_ratio
    )
    waiting = timeout * np.minimum(1, 3 * np.sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    with np.errstate(divide="ignore"):
        return floats(np.minimum(limit / rtt, 1 / (rtt * np.sqrt(2 * b * loss / 3) + waiting)))
