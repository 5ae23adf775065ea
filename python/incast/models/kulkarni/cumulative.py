"""The throughput of n synchronised flows, including timeouts: (3.21), (3.39), (3.40).

All forms are the same quotient, where E[Y] is the number of packets in a period:

    B = E[Y] / (RTT·E[X] + Q·T0) = 1 / (RTT·p_c·E[X] + p_c·Q·T0),       Q = min(1, Q_ibtt + Q_abtt)

The forms differ in the timeouts that Q counts. B counts the packets that the senders transmit,
including lost packets.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from incast.models.kulkarni import rounds, scattered, timeouts
from incast.models.numbers import Floats, floats, probability, together
from incast.models.padhye import backoff

Kind = Literal["td-only", "full", "ibtt-only", "abtt-only", "split", "scattered"]
"""The timeouts that Q counts.

- `td-only`: no timeouts
- `full`: all timeouts
- `ibtt-only`: timeouts inside a block
- `abtt-only`: timeouts at the head of a block
- `split`: all timeouts, as in (3.40)
- `scattered`: all timeouts; those inside a block follow the module `scattered` (NewReno and SACK)
"""


@dataclass(frozen=True)
class Losses:
    """Parameters of the equations. Values are scalars, or arrays that broadcast.

    Parameters
    ----------
    flows
        n.
    event_ratio
        p_c, loss events of the cumulative flow per packet, 0 to 1.
    indication_ratio
        p_r, loss indications of a flow per packet that it sends, 0 to 1.
    rtt
        RTT, seconds, including queueing.
    timeout
        T0, mean length of a single timeout, seconds.
    block_head
        delta: the mean number of ABTTs at the start of a block, as in the text, or the share of
        blocks with at least one ABTT. Simultaneous timeouts take the time of one timeout, so the
        mean number counts too much time. The text itself names this excess as the cause of its
        error for many flows.
    block
        L, packets of a block: n·SRU / segment. (In Table 3.1, L is the SRU, but (3.37) needs the
        block.)
    missing
        Packets lost per loss indication, at least 1. Only `scattered` uses this value.
    """

    flows: ArrayLike
    event_ratio: ArrayLike
    indication_ratio: ArrayLike
    rtt: ArrayLike
    timeout: ArrayLike = 0.2
    block_head: ArrayLike = 0.0
    block: ArrayLike = np.inf
    missing: ArrayLike = 1.0

    @property
    def hit(self) -> Floats:
        """The mean number j of flows that a loss event hits."""
        return rounds.flows_per_event(self.flows, self.event_ratio, self.indication_ratio)


@dataclass(frozen=True)
class Reading:
    """A choice for each ambiguity of the text; the defaults are the corrected form.

    Parameters
    ----------
    sums
        The ends of the sums of (3.34) and (3.40) (see `timeouts.Sum`).
    flows
        The flows whose timeout ends a period: "one" flow, as in the text, or "any" of j flows.
    backs_off
        Whether repeated timeouts count, so that E[Z^TO] is T0·f(p_r)/(1 - p_r) instead of T0.
    knee
        n* of (3.40).
    window_limit
        W_m, packets: see `rounds.rounds_per_packet`.
    limited_transmit
        Whether the senders use limited transmit. Only `scattered` uses this value.
    capacity
        Capacity of the link in packets/s, the upper limit of B.
    """

    sums: timeouts.Sum = "corrected"
    flows: Literal["one", "any"] = "one"
    backs_off: bool = False
    knee: ArrayLike = 3
    window_limit: ArrayLike = np.inf
    limited_transmit: bool = True
    capacity: ArrayLike = np.inf


CORRECTED = Reading()
PRINTED = Reading(sums="printed")


def inside(losses: Losses, kind: Kind, reading: Reading = CORRECTED) -> Floats:
    """Return Q_ibtt (3.36), the chance that a loss event ends in a timeout inside the block."""
    flows, p_c, p_r = together(losses.flows, losses.event_ratio, losses.indication_ratio)
    probability(p_r, "indication_ratio")
    if kind in {"td-only", "abtt-only"}:
        return floats(np.zeros(np.shape(flows)))
    size = rounds.flow_window(flows, losses.hit, p_c, reading.window_limit)
    if kind == "split":
        chance = timeouts.split_inside(flows, size, p_r, reading.knee, reading.sums)
    elif kind == "scattered":
        chance = scattered.timeout_probability(
            size, p_r, losses.missing, limited_transmit=reading.limited_transmit
        )
    else:
        chance = timeouts.inside(size, p_r, reading.sums)
    return timeouts.any_of(chance, losses.hit) if reading.flows == "any" else chance


def timeouts_per_packet(losses: Losses, kind: Kind, reading: Reading = CORRECTED) -> Floats:
    """Return p_c·Q, timeouts per packet, with Q = min(1, Q_ibtt + Q_abtt).

    p_c·Q_abtt is delta/L, because Q_abtt = delta/(p_c·L) (3.38).
    """
    p_c = probability(losses.event_ratio, "event_ratio")
    head: Floats = floats(0.0)
    if kind not in {"td-only", "ibtt-only"}:
        head = floats(losses.block_head) / floats(losses.block)
    return floats(np.minimum(p_c, p_c * inside(losses, kind, reading) + head))


def throughput(losses: Losses, kind: Kind, reading: Reading = CORRECTED) -> Floats:
    """Return B, packets/s.

    Without losses, B is infinite if neither the window nor the link is limited.

    Raises
    ------
    ValueError
        A ratio is not a probability.
    """
    p_r = floats(losses.indication_ratio)
    moving = rounds.rounds_per_packet(
        losses.flows, losses.hit, losses.event_ratio, reading.window_limit
    )
    waiting = timeouts_per_packet(losses, kind, reading) * floats(losses.timeout)
    with np.errstate(divide="ignore"):
        if reading.backs_off:
            waiting = waiting * backoff(p_r) / (1 - p_r)
        return floats(np.minimum(1 / (floats(losses.rtt) * moving + waiting), reading.capacity))
