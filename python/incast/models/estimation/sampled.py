"""Loss rates where there is no trace: one packet in k, or the counters of a switch.

Both give the two rates that the models distinguish, packets lost and loss events, each with the
standard error of the unseen part. Neither sees which flow lost, so that p_r needs an assumption:
j of n flows hit by an event.
"""

from dataclasses import dataclass
from math import exp, inf, log1p, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from incast.models.estimation.events import burst_sizes
from incast.models.numbers import floats


@dataclass(frozen=True)
class Sampled:
    """Two loss rates with their standard errors.

    Parameters
    ----------
    packet_loss_ratio, packet_loss_error
        Packets lost per packet.
    loss_event_ratio, loss_event_error
        Loss events per packet.
    """

    packet_loss_ratio: float
    packet_loss_error: float
    loss_event_ratio: float
    loss_event_error: float


Sizes = Literal["geometric", "log-series"]


def of_sample(
    packets: int,
    drop_times: ArrayLike,
    interval: float,
    rtt: float,
    sizes: Sizes = "log-series",
) -> Sampled:
    """Estimate from a sample that contains each packet with the probability 1/k.

    d of s sampled packets were lost, in e' bursts. The loss ratio is d/s. An event of which no
    packet is sampled is not seen; their number follows from the assumed sizes of
    events:

        geometric     e = e'·d / (d - e'·(1 - 1/k))
        log-series    e = e'·ln(1 + c·k) / ln(1 + c),  d/e' = c / ln(1 + c)

    Both give k·e' where each event loses one packet. A log-series has many small events beside few
    large ones, as synchronised reads have at a full buffer.

    Parameters
    ----------
    packets
        s, sampled packets, lost ones among them.
    drop_times
        When the sampled packets that were lost were offered, seconds.
    interval
        k; 1 is a whole trace.
    rtt
        Round trip, seconds: losses within one of an event's first are that event.
    sizes
        The assumption.

    Returns
    -------
    Sampled
        The errors are those of sampling, to first order. They do not include a wrong assumption,
        which may have a larger effect: the difference of the two is a hint.

    Raises
    ------
    ValueError
        A number is out of range.
    """
    times = np.sort(floats(drop_times))
    lost = len(times)
    if packets < max(lost, 1) or interval < 1 or rtt <= 0:
        raise ValueError(f"not a sample: {packets} packets, {lost} lost, 1 in {interval}, {rtt} s")
    total = packets * interval
    ratio = lost / packets
    ratio_error = sqrt(ratio * (1 - ratio) / packets * (1 - 1 / interval))
    if not lost:
        # With one loss expected in the sample, none is as likely as a standard error below.
        unseen = (1 - 1 / interval) / packets
        return Sampled(0.0, unseen, 0.0, unseen)
    bursts = burst_sizes(times, rtt)
    seen = len(bursts)
    count = _events(seen, lost, interval, sizes)
    # To first order: ∂e/∂e', ∂e/∂d, the variances of both for e events, and their covariance.
    share = min(seen / count, 1.0)
    if lost == seen or interval == 1:
        variance = seen * (1 - share) * (count / seen) ** 2
    else:
        step = 1e-4
        by_seen = (count - _events(seen * (1 - step), lost, interval, sizes)) / (step * seen)
        by_lost = (_events(seen, lost * (1 + step), interval, sizes) - count) / (step * lost)
        variance = (
            by_seen**2 * seen * (1 - share)
            + by_lost**2 * (float((bursts**2).sum()) - share * lost**2 / seen)
            + 2 * by_seen * by_lost * lost * (1 - share)
        )
    return Sampled(ratio, ratio_error, count / total, sqrt(max(variance, 0.0)) / total)


def _events(seen: float, lost: float, interval: float, sizes: Sizes) -> float:
    """Return e, all events, from e' seen ones with d losses."""
    mean = lost / seen
    if mean <= 1 + 1e-9:
        return seen * interval
    if sizes == "geometric":
        return seen * mean / (mean - 1 + 1 / interval)
    from scipy.optimize import brentq

    def excess(logarithm: float) -> float:
        return exp(logarithm) / log1p(exp(logarithm)) - mean

    c = exp(brentq(excess, -40.0, 40.0))
    return float(seen * log1p(c * interval) / log1p(c))


def of_counters(packets: int, drops: ArrayLike) -> Sampled:
    """Estimate from a port's counters, read at regular intervals.

    The loss ratio is exact. Events are not seen, but intervals without a loss are: if events were
    a Poisson process, of I intervals a share exp(-e/I) would have none, so that

        e = -I·ln(1 - f/I)

    with losses in f of them. Intervals should be a round trip at least, or an event counts in two;
    and short against the time between events, or f tends to I and has no information.

    Parameters
    ----------
    packets
        Packets offered to the port, all intervals together.
    drops
        Packets dropped in each interval.

    Returns
    -------
    Sampled
        Events are f at the least and all drops at the most: e is cut to that. With losses in every
        interval e is f, and the error infinite.

    Raises
    ------
    ValueError
        There are more drops than packets, or no interval.
    """
    counts = floats(drops)
    total = float(counts.sum())
    if counts.size == 0 or packets < max(total, 1) or (counts < 0).any():
        raise ValueError(
            f"not counters: {packets} packets, {total:g} dropped in {counts.size} intervals"
        )
    hit = int(np.count_nonzero(counts))
    share = hit / counts.size
    if share < 1:
        count = min(max(-counts.size * log1p(-share), hit), total)
        error = sqrt(counts.size * share / (1 - share))
    else:
        count, error = float(hit), inf
    return Sampled(total / packets, 0.0, count / packets, error / packets)
