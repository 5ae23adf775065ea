"""Windows and a queue as fluids: N equal flows through one switch port."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .delay import Past, State, integrate

if TYPE_CHECKING:
    from incast.models.numbers import Floats

    from .signals import Signal

STEPS_PER_ROUND_TRIP = 20
"""Steps in the round trip of an idle network, by default."""
LEAST_STEPS = 2
"""Minimum number of steps in a round trip. With fewer, a step would depend on its own result."""
FULL = 1 - 1e-9
"""Share of the buffer at which the buffer counts as full; below 1 because of rounding errors."""
FLOOR = 1.0
"""Smallest window in segments.

A window below one segment means a timeout, which the fluid equations do not have.
"""


@dataclass(frozen=True)
class Link:
    """The switch port and the path around it.

    Parameters
    ----------
    capacity
        C: packets per second.
    delay
        T: round trip on an idle network, seconds.
    buffer
        B: packets that may wait.
    fixed_round_trip
        Whether the round trip is T regardless of the queue length. Reno's equation then becomes the
        rate equation (2) of the text on HPC clusters, dx/dt = 1/T² - x(t) x(t-T) p(t-T)/2.
    """

    capacity: float
    delay: float
    buffer: float
    fixed_round_trip: bool = False

    def round_trip(self, queue: float) -> float:
        """Return R in seconds: T plus the time to send `queue` packets, or T if it is fixed."""
        return self.delay if self.fixed_round_trip else self.delay + queue / self.capacity

    def overflow(self, queue: float, inflow: float) -> float:
        """Return the share of `inflow`, packets per second, that finds the buffer full."""
        full = queue >= FULL * self.buffer and inflow > self.capacity
        return 1 - self.capacity / inflow if full else 0.0


class Control(ABC):
    """The reaction of a window to signals."""

    @abstractmethod
    def slopes(self, window: float, alpha: float, now: float, then: Then) -> tuple[float, float]:
        """Return dW/dt and d(alpha)/dt.

        Parameters
        ----------
        window, alpha
            W in segments, and the estimate of the marked share.
        now
            R(t), seconds.
        then
            The network at the time when it sent the signals that arrive now.
        """


class Then(NamedTuple):
    """The network one round trip ago.

    Parameters
    ----------
    window
        W(t - R), segments.
    round_trip
        R(t - R), seconds.
    share
        p(t - R), the share of packets dropped or marked.
    """

    window: float
    round_trip: float
    share: float


@dataclass(frozen=True)
class Reno(Control):
    """Additive increase, halving at each signal (Misra, Gong and Towsley, SIGCOMM 2000, eq. 3).

    dW/dt = 1/R(t) - W(t) W(t-R) p(t-R)/(2 R(t-R)).
    """

    def slopes(self, window: float, alpha: float, now: float, then: Then) -> tuple[float, float]:
        """Return dW/dt and 0: Reno does not estimate the marked share, so alpha does not change."""
        del alpha
        signals = then.window / then.round_trip * then.share
        return 1 / now - window / 2 * signals, 0.0


@dataclass(frozen=True)
class Dctcp(Control):
    """DCTCP (Alizadeh, Javanmard and Prabhakar, SIGMETRICS 2011, eqs. 1-2).

    dW/dt = 1/R(t) - W(t) alpha(t) p(t-R)/(2 R(t)), d(alpha)/dt = g (p(t-R) - alpha(t))/R(t).

    Parameters
    ----------
    gain
        g: weight of the newest round trip in alpha.
    """

    gain: float = 1 / 16

    def slopes(self, window: float, alpha: float, now: float, then: Then) -> tuple[float, float]:
        """Return dW/dt and d(alpha)/dt."""
        decrease = window * alpha * then.share / 2
        return (1 - decrease) / now, self.gain * (then.share - alpha) / now


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A solution, at equally spaced times.

    Parameters
    ----------
    flows, link
        The number of flows, and the link.
    time
        Seconds.
    window
        W of one flow, segments.
    queue
        Packets waiting.
    alpha
        The estimate of the marked share; 0 for Reno.
    signalled
        p: share of the packets dropped or marked.
    lost
        Share of the packets lost: dropped packets, and packets that overflow a marking queue.
    """

    flows: int
    link: Link
    time: Floats
    window: Floats
    queue: Floats
    alpha: Floats
    signalled: Floats
    lost: Floats

    @cached_property
    def inflow(self) -> Floats:
        """N W/R: packets per second that arrive at the switch."""
        trips = [self.link.round_trip(q) for q in self.queue]
        return np.asarray(self.flows * self.window / np.array(trips))

    @cached_property
    def throughput(self) -> float:
        """Packets per second through the link, on average."""
        busy = np.where(self.queue > 0, self.link.capacity, self.inflow * (1 - self.lost))
        return float(np.minimum(busy, self.link.capacity).mean())

    @cached_property
    def loss_ratio(self) -> float:
        """Share of the packets that were lost."""
        return float((self.inflow * self.lost).sum() / self.inflow.sum())

    def after(self, start: float) -> Trajectory:
        """Return the solution from `start` seconds on, without the transient."""
        kept = self.time >= start
        arrays = (self.time, self.window, self.queue, self.alpha, self.signalled, self.lost)
        return Trajectory(self.flows, self.link, *(it[kept] for it in arrays))


def solve(
    flows: int,
    link: Link,
    control: Control,
    signal: Signal,
    duration: float,
    *,
    window: float = FLOOR,
    queue: float = 0.0,
    alpha: float = 0.0,
    steps_per_round_trip: int = STEPS_PER_ROUND_TRIP,
) -> Trajectory:
    """Solve the windows of N equal, synchronised flows and the queue that they share.

    Parameters
    ----------
    flows
        N.
    link
        Rate, round trip and buffer; `delay` is positive.
    control
        `Reno()` or `Dctcp(gain)`.
    signal
        `DropTail()`, `Threshold(K)`, `Ramp(low, high)` or `Fixed(p)`.
    duration
        Seconds.
    window, queue, alpha
        Initial window in segments, initial queue in packets, and initial value of alpha.
    steps_per_round_trip
        Steps in `link.delay`, at least 2.

    Raises
    ------
    ValueError
        An argument is out of range.

    Notes
    -----
    The queue follows dq/dt = N W/R - C, and stops at 0 and at B. At B, a share (N W/R - C)/(N W/R)
    of the packets is lost. The round trip is R = T + q/C. Signals that reach the senders at t left
    the switch at t - R(t). The senders treat losses as marks, because DCTCP's equations have no
    other reaction. DCTCP's equations are published with a fixed delay T + K/C; here the delay is
    R(t), as in Reno's equation.
    """
    if flows < 1 or min(link.capacity, link.delay, duration) <= 0 or link.buffer < 0:
        raise ValueError("flows, capacity, delay and duration must be positive, buffer at least 0")
    if steps_per_round_trip < LEAST_STEPS:
        raise ValueError(f"steps_per_round_trip must be at least {LEAST_STEPS}")
    step = link.delay / steps_per_round_trip
    steps = int(np.ceil(duration / step))

    def inflow(state: State) -> float:
        """Return N W/R, packets per second."""
        return flows * state[0] / link.round_trip(state[2])

    def seen(state: State) -> tuple[float, float]:
        """Return the share of packets dropped or marked, and the share of packets dropped."""
        own = signal.share(state[2])
        spilt = link.overflow(state[2], inflow(state) * (1 - own * signal.drops))
        either = 1 - (1 - own) * (1 - spilt)
        return either, either if signal.drops else spilt

    def confine(state: State) -> State:
        window, alpha, queue = state
        if window >= FLOOR and 0 <= alpha <= 1 and 0 <= queue <= link.buffer:
            return state
        return max(window, FLOOR), min(max(alpha, 0.0), 1.0), min(max(queue, 0.0), link.buffer)

    def derivative(time: float, state: State, past: Past) -> State:
        state = confine(state)
        now = link.round_trip(state[2])
        before = confine(past(time - now))
        then = Then(before[0], link.round_trip(before[2]), seen(before)[0])
        slope, learning = control.slopes(state[0], state[1], now, then)
        growth = inflow(state) * (1 - seen(state)[1]) - link.capacity
        return slope, learning, 0.0 if state[2] <= 0 > growth else growth

    states = integrate(derivative, confine((window, alpha, queue)), steps, step, confine)
    times = np.arange(steps + 1.0) * step
    windows, alphas, queues = np.asarray(states, float).T
    signalled, lost = np.asarray([seen(state) for state in states], float).T
    return Trajectory(flows, link, times, windows, queues, alphas, signalled, lost)
