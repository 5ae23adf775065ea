"""Fluid equations: windows and a queue without packets.

    from incast.models.fluid import Dctcp, Link, Threshold, solve

    link = Link(capacity=833_333, delay=100e-6, buffer=600)
    found = solve(2, link, Dctcp(), Threshold(65), duration=0.05).after(0.01)
    found.queue.mean(), found.queue.max(), found.alpha.mean(), found.throughput

Units: times in seconds, rates in packets per second, windows in segments, queues in packets.
"""

from .flows import Control, Dctcp, Link, Reno, Trajectory, solve
from .signals import DropTail, Fixed, Ramp, Signal, Threshold
from .steady import (
    Rest,
    dctcp_share,
    dctcp_swing,
    reno_at_full_buffer,
    reno_at_random_queue,
    reno_window,
)

__all__ = [
    "Control",
    "Dctcp",
    "DropTail",
    "Fixed",
    "Link",
    "Ramp",
    "Reno",
    "Rest",
    "Signal",
    "Threshold",
    "Trajectory",
    "dctcp_share",
    "dctcp_swing",
    "reno_at_full_buffer",
    "reno_at_random_queue",
    "reno_window",
    "solve",
]
