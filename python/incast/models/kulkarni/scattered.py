"""Timeouts inside a block if losses are scattered, for NewReno and SACK.

The text assumes that all packets after the first loss of a round are lost, so that half a window is
missing on average. At a drop-tail switch, the windows of many flows interleave, and a flow loses
single packets. In the simulator, a flow loses about three packets per loss indication, for any n.
The process is therefore different here:

1. The first loss of a window of w packets comes after K packets, by (3.32).
2. Each of the w - K - 1 packets after the first loss is lost with a probability s, which follows
   from the mean number h of missing packets. h is the measured number of lost packets per loss
   indication.
3. K more packets follow, and each is lost with the probability p.

The packets of steps 2 and 3 that arrive cause D duplicate ACKs. The rest is as in `flavours` for
NewReno and SACK. Recovery begins with three duplicate ACKs. With limited transmit, one or two
duplicate ACKs are enough if new packets arrive and raise the number to three. A repair is the first
packet of its round and is lost with the probability p. Only the timer notices the loss of a repair.
No constant is fitted. The process does not apply to Reno, because with Reno every repair of a
window counts as a separate loss indication.
"""

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, probability, together
from incast.models.padhye import DUPLICATES


def timeout_probability(
    window: ArrayLike,
    loss: ArrayLike,
    missing: ArrayLike,
    *,
    limited_transmit: bool = False,
) -> Floats:
    """Return the chance that a loss indication in a window of w packets is a timeout.

    Parameters
    ----------
    window
        w, packets, rounded to a whole number.
    loss
        p, loss indications per packet, 0 to 1.
    missing
        Mean number of packets lost per loss indication, from 1 to w.
    limited_transmit
        Whether the first two duplicate ACKs release new packets.

    Returns
    -------
    array
        The chances, each computed by a summation in O(w²).
    """
    probability(loss, "loss")
    arrays = together(np.maximum(np.round(floats(window)), 1), loss, missing)
    values = [
        _chance(int(w), float(p), float(h), limited=limited_transmit)
        for w, p, h in zip(*(array.ravel() for array in arrays), strict=True)
    ]
    return floats(values).reshape(arrays[0].shape)


def _chance(window: int, loss: float, missing: float, *, limited: bool) -> float:
    from scipy.stats import binom

    ahead = np.arange(window)
    first = (1 - loss) ** ahead
    first = first / first.sum()
    behind = float(first @ (window - ahead - 1))
    scatter = min(max((missing - 1) / behind, 0.0), 1.0) if behind > 0 else 0.0
    # The chance that recovery begins after D duplicate ACKs, D = 0 ... 3.
    begins = np.array([0.0, 0.0, 0.0, 1.0])
    if limited:
        begins[1:3] = (1 - loss) ** 2, 1 - loss**2
    recovered = 0.0
    for k in ahead:
        holes = np.arange(window - k)  # in addition to the first missing packet
        share = binom.pmf(holes, window - k - 1, scatter)
        repaired = (1 - loss) ** (holes + 1.0)
        # Of the K later packets, i arrive; three or more count together.
        some = binom.pmf(np.arange(DUPLICATES), k, 1 - loss)
        later = np.append(some, max(1 - some.sum(), 0.0))
        arrive = np.minimum(
            (window - k - 1 - holes)[:, None] + np.arange(DUPLICATES + 1), DUPLICATES
        )
        recovered += first[k] * float((share * repaired) @ (begins[arrive] @ later))
    return 1 - recovered
