"""Timeouts inside a block where losses are scattered, for each flavour of TCP.

The text takes everything that follows the first loss of a round to be lost, so that half a window
is missing on average. At a drop-tail switch the windows of many flows interleave, and a flow loses
a few packets here and there: in the simulator about three per loss indication, for any n. So here

1. the first loss of a window of w packets comes after K of them, by (3.32);
2. each of the w - K - 1 that follow is lost with a chance s, so that h are missing in the mean,
   which is measured: packets lost per loss indication;
3. K more packets follow, of which each is lost with p.

Those of 2 and 3 that arrive make D duplicate ACKs. The rest is as in `flavours` for NewReno and
SACK: recovery begins with three, or with limited transmit with one or two and as many new packets
that arrive; a repair is the first of its round, and lost with p, which only the timer notices. No
constant is fitted. For Reno, which counts every repair of a window as a separate loss indication,
this does not apply.
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
        w, packets, rounded to whole ones.
    loss
        p, loss indications per packet, 0 to 1.
    missing
        Mean number of packets lost per loss indication, from 1 to w.
    limited_transmit
        Whether the first two duplicate ACKs send new packets.

    Returns
    -------
    array
        By summation, O(w²) for each value.
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
    # How likely D duplicates let recovery begin, D = 0 ... 3.
    begins = np.array([0.0, 0.0, 0.0, 1.0])
    if limited:
        begins[1:3] = (1 - loss) ** 2, 1 - loss**2
    recovered = 0.0
    for k in ahead:
        holes = np.arange(window - k)  # beside the first one
        share = binom.pmf(holes, window - k - 1, scatter)
        repaired = (1 - loss) ** (holes + 1.0)
        # Of the K later packets i arrive, three or more together.
        some = binom.pmf(np.arange(DUPLICATES), k, 1 - loss)
        later = np.append(some, max(1 - some.sum(), 0.0))
        arrive = np.minimum(
            (window - k - 1 - holes)[:, None] + np.arange(DUPLICATES + 1), DUPLICATES
        )
        recovered += first[k] * float((share * repaired) @ (begins[arrive] @ later))
    return 1 - recovered
