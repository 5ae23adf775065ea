"""The throughput of one long TCP flow as a function of its loss rate: the PFTK equation.

Padhye, Firoiu, Towsley, Kurose: Modeling TCP Reno Performance: A Simple Model and Its Empirical
Validation, IEEE/ACM Transactions on Networking 8(2), 2000. A flow of unlimited length sends in
rounds of one round trip. If a packet of a round is lost, all later packets of the round are lost,
too. Rounds are independent. p is the chance that a packet is lost if it is the first of its round,
or if the packet before it was not lost. The model has no slow start, no fast recovery, and no start
and stop of synchronised reads.
"""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, probability, together

DUPLICATES = 3
"""Number of duplicate ACKs that cause a fast retransmit. Fewer duplicate ACKs lead to a timeout."""


def timeout_probability(window: ArrayLike, loss: ArrayLike) -> Floats:
    """Return Q^(w), the chance that a loss in a window of w packets ends in a timeout.

    k packets of the round arrive before the first loss. These packets release k more packets, of
    which m arrive. If m is below 3, a timeout follows. With q = 1 - p, the sum over k and m is

        Q^(w) = min(1, (1 - q³)(1 + q³(1 - q^(w-3))) / (1 - q^w)),   1 for w ≤ 3

    (PFTK's equation 24). Equation (3.34) of Kulkarni & Agrawal is the same if its sum ends at
    k = w - 1.

    Parameters
    ----------
    window
        w, packets, at least 1; not necessarily a whole number.
    loss
        p, from 0 to 1. For p = 0, the result is the limit 3/w.

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
    """Return (1 - q^k) / (1 - q^w).

    If at least one of w packets is lost, this is the chance that fewer than k packets precede the
    first loss.

    Parameters
    ----------
    count, window
        k and w, packets. A k above w counts as w.
    loss
        p. For p = 0, the result is the limit k/w.
    """
    count, window, loss = together(count, window, loss)
    count = np.minimum(count, window)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log1p(-loss)
        share = np.expm1(count * logarithm) / np.expm1(window * logarithm)
    return floats(np.where(loss > 0, share, count / window))


def backoff(loss: ArrayLike) -> Floats:
    """Return f(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶ (PFTK, after equation 28).

    f(p)/(1 - p) is the mean duration of a sequence of timeouts, in units of the first timeout. Each
    retransmission fails with the probability p, and the timer doubles up to 64 times its first
    length.
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
        p. For p = 0, the window is infinite.
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
    """Return the packets per second that a flow sends, including lost packets (PFTK, 30, 31).

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
        W_m / rtt for p = 0, and 1 / (64 T0) for p = 1. At W_u = W_m, the two equations differ by a
        few per cent.
    """
    loss, rtt, timeout, limit, b = together(
        probability(loss, "loss"), rtt, timeout, window_limit, ack_ratio
    )
    q = 1 - loss
    window = np.minimum(unlimited_window(loss, b), limit)
    chance = timeout_probability(window, loss)
    grows = unlimited_window(loss, b) < limit
    with np.errstate(divide="ignore", invalid="ignore"):
        # Numerator and denominator are multiplied by p (1 - p), so p = 1 is no special case.
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

    The short form is close if p is small and windows are far from their limit. At the limit,
    the short form is too high. At p = 0.001 and W_m = 20, for example, the short form is more than
    twice the throughput.
    """
    loss, rtt, timeout, limit, b = together(
        probability(loss, "loss"), rtt, timeout, window_limit, ack_ratio
    )
    waiting = timeout * np.minimum(1, 3 * np.sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    with np.errstate(divide="ignore"):
        return floats(np.minimum(limit / rtt, 1 / (rtt * np.sqrt(2 * b * loss / 3) + waiting)))
