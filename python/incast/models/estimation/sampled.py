"""Loss rates without a trace: from a sample of one packet in k, or from the counters of a switch.

Both sources give the two rates that the models distinguish, the rate of lost packets and the rate
of loss events. The standard errors express the uncertainty due to packets and events that were not
seen. Neither source shows which flow lost a packet, so p_r needs the assumption that an event hits
j of the n flows.
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
        Packets lost per packet sent, and the standard error.
    loss_event_ratio, loss_event_error
        Loss events per packet sent, and the standard error.
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

    d of the s sampled packets were lost, in e' bursts. The loss ratio is d/s. An event without a
    sampled packet is not seen. The number e of all events follows from the assumed distribution of
    event sizes:

        geometric     e = e'·d / (d - e'·(1 - 1/k))
        log-series    e = e'·ln(1 + c·k) / ln(1 + c),  d/e' = c / ln(1 + c)

    Both assumptions give e = k·e' if each event loses one packet. A log-series has many small
    events and few large events, as synchronised reads have at a full buffer.

    Parameters
    ----------
    packets
        s, the number of sampled packets, including lost packets.
    drop_times
        Times in seconds at which the lost packets of the sample were offered.
    interval
        k. A sample with k = 1 is a whole trace.
    rtt
        Round trip, seconds. Losses within a round trip of the first loss belong to the same event.
    sizes
        The assumed distribution of event sizes.

    Returns
    -------
    Sampled
        The errors are those of sampling, to first order. The errors do not include the effect of a
        wrong assumption, which may be larger. The difference between the results with both
        assumptions gives an idea of this effect.

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
        # Without a loss, the error is about the ratio at which one loss would be expected.
        unseen = (1 - 1 / interval) / packets
        return Sampled(0.0, unseen, 0.0, unseen)
    bursts = burst_sizes(times, rtt)
    seen = len(bursts)
    count = _events(seen, lost, interval, sizes)
    # Variance to first order, from ∂e/∂e', ∂e/∂d, the variances of e' and d, and their covariance.
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
    """Return e, the number of all events, from e' seen events with d losses."""
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

    The loss ratio is exact. Counters do not show events, but they show intervals without a loss. If
    events are a Poisson process, a share exp(-e/I) of I intervals has no loss. With losses in f
    intervals, the number of events is therefore

        e = -I·ln(1 - f/I)

    Intervals should be at least a round trip long, because otherwise an event may count in two
    intervals. Intervals should be much shorter than the time between events, because otherwise f
    approaches I and contains no information.

    Parameters
    ----------
    packets
        Packets offered to the port, summed over all intervals.
    drops
        Packets dropped in each interval.

    Returns
    -------
    Sampled
        The number of events is at least f and at most the number of drops, so e is limited to this
        range. If every interval has losses, e is f, and the error is infinite.

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
