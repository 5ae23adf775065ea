"""Loss rates where there is no trace: one packet in k, or the counters of a switch.

Both give the two rates that the models tell apart, packets lost and loss events, each with the
standard error of what is not seen. Neither sees which flow lost, so that p_r needs an assumption:
j of n flows hit by an event.
"""

from dataclasses import dataclass
from math import inf, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike

from incast.models.estimation.events import loss_events
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


def of_sample(packets: int, drop_times: ArrayLike, interval: float, rtt: float) -> Sampled:
    """Estimate from a sample into which each packet comes with the chance 1/k.

    d of s sampled packets were lost, in e' bursts. The loss ratio is d/s. An event of which no
    packet is sampled is not seen; if events have a geometric number of losses, their number is

        e = e'·d / (d - e'·(1 - 1/k)),

    which is e' where bursts are long and k·e' where each loses one packet. Where sizes vary more
    than that, e is too small.

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

    Returns
    -------
    Sampled
        The error of the losses is that of sampling a given run. That of the events is of first
        order, and takes their sizes for geometric.

    Raises
    ------
    ValueError
        A number is out of range.
    """
    times = np.sort(floats(drop_times))
    lost = len(times)
    if packets < max(lost, 1) or interval < 1 or rtt <= 0:
        raise ValueError(f"{packets} packets, {lost} lost, 1 in {interval}, {rtt} s: not a sample")
    chance = 1 / interval
    total = packets * interval
    ratio = lost / packets
    ratio_error = sqrt(ratio * (1 - ratio) / packets * (1 - chance))
    if not lost:
        # With one loss expected in the sample, none is as likely as a standard error below.
        return Sampled(0.0, (1 - chance) / packets, 0.0, (1 - chance) / packets)
    seen = loss_events(times, rtt)
    rest = lost - seen * (1 - chance)
    count = seen * lost / rest
    # To first order: ∂e/∂e', ∂e/∂d, the variances of both for e events, and their covariance.
    share, size = seen / count, lost / seen
    by_seen, by_lost = (lost / rest) ** 2, -(1 - chance) * (seen / rest) ** 2
    variance = (
        by_seen**2 * seen * (1 - share)
        + by_lost**2 * lost * (2 * size - 1 - share * size)
        + 2 * by_seen * by_lost * lost * (1 - share)
    )
    return Sampled(ratio, ratio_error, count / total, sqrt(max(variance, 0.0)) / total)


def of_counters(packets: int, drops: ArrayLike) -> Sampled:
    """Estimate from a port's counters, read at regular intervals.

    The loss ratio is exact. Events are not seen, but intervals without a loss are: if events were
    a Poisson process, of I intervals a share exp(-e/I) would have none, so that

        e = -I·ln(1 - f/I)

    with losses in f of them. Intervals should be a round trip at least, or an event counts in two;
    and short against the time between events, or f tends to I and tells nothing.

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
        raise ValueError(f"{packets} packets, {total:g} dropped in {counts.size} intervals")
    hit = int(np.count_nonzero(counts))
    share = hit / counts.size
    if share < 1:
        count = min(max(-counts.size * log1p(-share), hit), total)
        error = sqrt(counts.size * share / (1 - share))
    else:
        count, error = float(hit), inf
    return Sampled(total / packets, 0.0, count / packets, error / packets)
