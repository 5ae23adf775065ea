"""Recovery from the losses of a round by Reno, NewReno and SACK, with or without limited transmit.

The text leaves these flavours to future work. The text's Q^, the chance of a timeout, is for a
sender that repairs every loss that three duplicate ACKs report. This module uses the same loss
process as the text (§3.1.1.3).
The first K packets of a window of w packets arrive and release K more packets in the next round.
The first M of these packets arrive and cause duplicate ACKs. With q = 1 - p,

    P(M ≥ m) = q^m (q^m - q^w) / (1 - q^w),        m < w,

and w - M packets are missing when recovery begins. Recovery begins

- if M ≥ 3, or
- with limited transmit (RFC 3042), if M = 2 and the first of two more packets arrives (chance q),
  or if M = 1 and two more packets in a row arrive (chance q²).

The flavours differ in their repairs. A repair is a retransmitted packet, which may be lost, too.
All three flavours notice a lost repair only when the timer expires. So w - M repairs succeed with a
probability of q^(w - M).

- `reno` ends its recovery with the first repair, so a second missing packet waits for the timer
  (Fall & Floyd 1996, §3.2: two or more losses of a window).
- `newreno` repairs one packet per round (RFC 6582), so it needs w - M rounds. The impatient variant
  also times out if these rounds take longer than its timer.
- `sack` (RFC 6675) repairs up to half a window per round, and is done after one or two rounds. Its
  remaining timeouts come from lost whole windows (M = 0), from fewer than three duplicate ACKs, and
  from lost repairs.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, probability, together
from incast.models.padhye import DUPLICATES

Flavour = Literal["reno", "newreno", "sack"]


def arriving(count: ArrayLike, window: ArrayLike, loss: ArrayLike) -> Floats:
    """Return P(M ≥ m), the chance of at least m duplicate ACKs; 0 for m > w - 1."""
    m, w, p = together(count, window, loss)
    m = np.minimum(m, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log1p(-p)
        rest = np.exp(m * logarithm) * np.expm1((w - m) * logarithm) / np.expm1(w * logarithm)
        chance = np.where(p > 0, np.exp(m * logarithm) * rest, 1 - m / w)
    return floats(np.where(p < 1, chance, np.where(m > 0, 0.0, 1.0)))


def recovery_probability(
    window: ArrayLike, loss: ArrayLike, *, limited_transmit: bool = False
) -> Floats:
    """Return the chance that a loss begins a recovery rather than a timeout.

    Without limited transmit, this is the text's 1 - Q^.
    """
    w, p = together(window, probability(loss, "loss"))
    chance = arriving(DUPLICATES, w, p)
    if limited_transmit:
        q = 1 - p
        chance = chance + q * _exactly(2, w, p) + q**2 * _exactly(1, w, p)
    return floats(np.where(w > 1, chance, 0.0))


def timeout_probability(
    window: ArrayLike,
    loss: ArrayLike,
    flavour: Flavour,
    *,
    limited_transmit: bool = False,
    patience: ArrayLike = np.inf,
) -> Floats:
    """Return the chance that a loss in a window of w packets ends in a timeout.

    Parameters
    ----------
    window
        w, packets.
    loss
        p, 0 to 1.
    flavour
        The recovery: see the docstring of this module.
    limited_transmit
        Whether the first two duplicate ACKs release new packets. The sender is assumed to have new
        packets.
    patience
        T0 / RTT: the number of rounds after which the timer ends a recovery. In impatient NewReno,
        partial ACKs do not restart the timer. For slow-but-steady NewReno, the number is infinite.
        Only `newreno` uses `patience`.
    """
    w, p, patience = together(window, probability(loss, "loss"), patience)
    q = 1 - p
    if flavour == "reno":
        repaired = q * _exactly(np.maximum(w - 1, DUPLICATES), w, p)
        few = w - 1 < DUPLICATES
    else:
        least = np.maximum(w - patience, DUPLICATES) if flavour == "newreno" else DUPLICATES
        repaired = _repaired(least, w, p)
        few = np.zeros(w.shape, dtype=bool)
    chance = np.where(few, 0.0, repaired)
    if limited_transmit:
        for count, arrives in ((2, q), (1, q**2)):
            holes = w - count
            allowed = holes <= 1 if flavour == "reno" else holes <= patience
            if flavour == "sack":
                allowed = holes > 0
            chance = chance + np.where(allowed, arrives * q**holes * _exactly(count, w, p), 0.0)
    return floats(np.clip(1 - chance, 0, 1))


def recovery_rounds(window: ArrayLike, loss: ArrayLike, flavour: Flavour) -> Floats:
    """Return the mean number of rounds in which a recovery (with M ≥ 3) repairs w - M packets.

    Reno repairs only one packet. The throughput does not include the rounds of a recovery, because
    the flow continues to send about half its window in these rounds.
    """
    w, p = together(window, probability(loss, "loss"))
    begins = arriving(DUPLICATES, w, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        if flavour == "reno":
            mean = np.ones(w.shape)
        elif flavour == "newreno":
            mean = _missing(w, p) / begins
        else:
            # With more than w/2 missing packets, there are two rounds.
            mean = 2 - arriving(np.maximum(np.ceil(w / 2), DUPLICATES), w, p) / begins
    return floats(np.where(begins > 0, mean, np.nan))


def _exactly(count: ArrayLike, window: Floats, loss: Floats) -> Floats:
    """Return P(M = m)."""
    m = floats(count)
    chance = arriving(m, window, loss) - arriving(m + 1, window, loss)
    return floats(np.where(m < window, chance, 0.0))


def _repaired(least: ArrayLike, window: Floats, loss: Floats) -> Floats:
    """Return E[q^(w - M); M ≥ m].

    Summation by parts gives
    q^(w-m) P(M ≥ m) + q^w ((q^(m+1) - q^w) - p (w - m - 1) q^w) / (1 - q^w).
    """
    m, w, p = together(least, window, loss)
    m = np.ceil(m)
    inner = (p > 0) & (p < 1) & (m < w)
    m, w, p = np.where(inner, m, 1.0), np.where(inner, w, 2.0), np.where(inner, p, 0.5)
    logarithm = np.log1p(-p)
    qw = np.exp(w * logarithm)
    rest = qw * np.expm1((m + 1 - w) * logarithm) - p * (w - m - 1) * qw
    first = np.exp((w - m) * logarithm) * arriving(m, w, p)
    total = first + qw * rest / -np.expm1(w * logarithm)
    ends = np.where(floats(loss) <= 0, arriving(least, window, loss), 0.0)
    return floats(np.where(inner, np.maximum(total, 0), ends))


def _missing(window: Floats, loss: Floats) -> Floats:
    """Return E[w - M; M ≥ 3] = (w - 3) P(M ≥ 3) - ∑ P(M ≥ m), m from 4 to w - 1."""
    total = np.zeros(window.shape)
    last = int(np.ceil(np.max(window, initial=0)))
    for m in range(DUPLICATES + 1, last):
        total += np.where(m < window, arriving(m, window, loss), 0.0)
    return floats((window - DUPLICATES) * arriving(DUPLICATES, window, loss) - total)
