"""The chance that a period between losses ends in a timeout (§3.1.1.3, §3.2)."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from incast.models import padhye
from incast.models.numbers import Floats, floats, together
from incast.models.padhye import DUPLICATES, share_below

Sum = Literal["corrected", "printed"]
"""Where the sums of (3.34) and (3.40) end.

In print, the sums end at k = w. k is the number of packets before the first loss of a window of w
packets, so k = w means that no packet is lost. The shares A(w, 0) to A(w, w-1) already add up to
one. The corrected sums end at k = w - 1, which gives PFTK's form. (The factor (1 - p_r)^n that
(3.33) prints for m = g has no effect, because m never reaches g in these sums.)
"""


def inside(window: ArrayLike, loss: ArrayLike, sums: Sum = "corrected") -> Floats:
    """Return Q^_ibtt(w) of the full model (3.34).

    Parameters
    ----------
    window
        w = E[W_f], packets.
    loss
        p_r.
    sums
        See `Sum`. With "printed", the result may exceed 1.
    """
    corrected = padhye.timeout_probability(window, loss)
    if sums == "corrected":
        return corrected
    return floats(np.where(floats(window) <= DUPLICATES, 1.0, corrected + _no_loss(window, loss)))


def split_inside(
    flows: ArrayLike,
    window: ArrayLike,
    loss: ArrayLike,
    knee: ArrayLike = 3,
    sums: Sum = "corrected",
) -> Floats:
    """Return Q^_ibtt(w) of the split model (3.40).

    Up to n* flows, only the loss of a whole window ends in a timeout, with the chance A(w, 0). With
    more flows, only a lack of duplicate ACKs after a partial loss ends in a timeout, with the
    chance (1 - q³)(q³ - q^w)/(1 - q^w).

    Parameters
    ----------
    flows
        n.
    window, loss, sums
        As in `inside`.
    knee
        n*, 3 in the text's simulations.
    """
    flows, window, loss, knee = together(flows, window, loss, knee)
    size = np.maximum(window, DUPLICATES)
    whole = share_below(1, size, loss)
    late = (1 - share_below(DUPLICATES, size, loss)) * (1 - (1 - loss) ** DUPLICATES)
    if sums == "printed":
        late = late + _no_loss(window, loss)
    return floats(np.where(window <= DUPLICATES, 1.0, np.where(flows <= knee, whole, late)))


def any_of(chance: ArrayLike, hit: ArrayLike) -> Floats:
    """Return 1 - (1 - Q^)^j, the chance that any of the j flows of an event times out.

    The flows are assumed to time out independently. The text uses Q^, the chance of one flow, for
    the whole event, because it assumes at most one timeout per event.
    """
    chance, hit = together(chance, hit)
    return floats(1 - (1 - np.minimum(chance, 1)) ** hit)


def _no_loss(window: ArrayLike, loss: ArrayLike) -> Floats:
    """Return A(w, w)·(1 - q³): the term that only the printed form of the sum has."""
    window, loss = together(window, loss)
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log1p(-loss)
        extra = np.exp(window * logarithm) * loss / -np.expm1(window * logarithm)
    # At p = 0, the limit of A(w, w) is 1/w, and the limit of the second factor is 0.
    return floats(np.where(loss > 0, extra * (1 - (1 - loss) ** DUPLICATES), 0.0))
