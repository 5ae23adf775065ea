"""Fixed points of the fluid equations, and the limits of their oscillation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incast.models.numbers import Floats, floats
from incast.models.queues import MG1K, Deterministic, Service

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .flows import Link


@dataclass(frozen=True)
class Rest:
    """A state in which nothing changes.

    Parameters
    ----------
    window
        W of one flow, segments.
    share
        p: share of the packets lost or marked.
    queue
        Number of waiting packets; the mean number if the queue is random.
    load
        N W/(R C): rate of arriving packets, divided by the capacity of the link.
    """

    window: float
    share: float
    queue: float
    load: float


def reno_window(share: ArrayLike) -> Floats:
    """Return W = sqrt(2/p), segments: Reno's window at a share p of lost or marked packets.

    This is the steady state of Misra, Gong and Towsley's equation. The formula neglects that
    windows vary: E[W²] is 2/p, but with random losses E[W] is 1.31/sqrt(p) (Ott, Kemperman and
    Mathis, The stationary behavior of ideal TCP congestion avoidance, 1996).
    """
    return np.asarray(np.sqrt(2 / floats(share)))


def dctcp_share(window: ArrayLike) -> Floats:
    """Return alpha = p = sqrt(2/W): DCTCP's marked share at a window of W segments, W >= 2."""
    return np.asarray(np.sqrt(2 / floats(window)))


def dctcp_swing(flows: ArrayLike, pipe: ArrayLike, threshold: ArrayLike) -> tuple[Floats, Floats]:
    """Return the longest queue and the amplitude of its oscillation, packets.

    Parameters
    ----------
    flows
        N synchronised flows.
    pipe
        C T: packets on the idle path.
    threshold
        K: packets above which the switch marks.

    Returns
    -------
    tuple
        K + N and sqrt(2 N (C T + K))/2 (Alizadeh et al., Data Center TCP, SIGCOMM 2010, §3.3). The
        values hold for alpha << 1, which means many segments in a window.
    """
    n, mark = floats(flows), floats(threshold)
    return np.asarray(mark + n), np.asarray(np.sqrt(2 * n * (floats(pipe) + mark)) / 2)


def reno_at_full_buffer(flows: int, link: Link) -> Rest:
    """Return the fixed point of N Reno flows at a full drop-tail buffer.

    W = sqrt(2/p) and N W (1 - p)/R = C with R = T + B/C give W² - (C R/N) W - 2 = 0. The fixed
    point W* is stable only for W* < 3.5. Larger windows oscillate around W*. Near W*, x = W - W*
    follows R dx/dt = -x(t)/W* - x(t-R) W*/2.
    """
    pipe = link.capacity * link.round_trip(link.buffer) / flows
    window = (pipe + (pipe**2 + 8) ** 0.5) / 2
    return Rest(window, 2 / window**2, link.buffer, window / pipe)


def reno_at_random_queue(flows: int, link: Link, service: Service | None = None) -> Rest:
    """Return the fixed point of N Reno flows if their packets arrive as a Poisson stream.

    The window is sqrt(2/p), where p is the blocking probability of M/G/1/K with K = B + 1 at the
    load N W/(R C). R is the sum of the idle round trip and the mean wait of an accepted packet.

    Parameters
    ----------
    flows
        N.
    link
        Rate, round trip and buffer.
    service
        Distribution of service times; by default the constant 1/C.
    """
    from scipy.optimize import brentq

    service = service or Deterministic(1 / link.capacity)
    places = int(link.buffer) + 1

    def rest(load: float) -> Rest:
        queue = MG1K(load / service.mean, service, places)
        share = max(queue.blocking, 1e-300)
        return Rest(float(reno_window(share)), share, queue.mean_waiting, load)

    def surplus(load: float) -> float:
        it = rest(load)
        trip = link.delay
        if not link.fixed_round_trip:
            trip += it.queue * service.mean / (load * (1 - it.share))
        return flows * it.window / trip * service.mean / load - 1

    return rest(float(brentq(surplus, 1e-3, 100.0)))
