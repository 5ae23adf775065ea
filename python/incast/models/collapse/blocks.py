"""The simulation of the reduced process in Rust (`crates/theory`), and its effort.

Runs are simulated block by block until the mean duration of a block is known to a few per cent, or
until it is clear whether the read has collapsed. Most reads are far from the limit of collapse and
need few blocks. The jitter of the requests is drawn from the same random numbers for every
scenario, so that answers are repeatable.
"""

import os
from dataclasses import dataclass, replace

from incast import _core
from incast.collapse import LEAST_SHARE, LEAST_TIMEOUTS, LEAST_WAIT
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats


@dataclass(frozen=True)
class Effort:
    """How much of a read is simulated. Events are packets, ACKs, requests and timers.

    Parameters
    ----------
    fine
        The relative standard error of a block's mean duration at which the simulation may end.
    coarse
        The same relative standard error, if it is clear whether the read has collapsed.
    clear
        Minimum number of standard errors with which it is clear whether the read has collapsed.
    least
        Minimum number of events.
    most, blocks
        The simulation ends after `most` events, if `blocks` blocks after the first are complete.
    limit
        Number of events after which the rest of a block is not simulated. The rest is assumed to
        continue at the same pace.
    rare
        Whether the simulation of a read that loses packets continues until a timeout occurs.
    """

    fine: float = 0.02
    coarse: float = 0.35
    clear: float = 2.5
    least: int = 20_000
    most: int = 120_000
    blocks: int = 1
    limit: int = 5_000_000
    rare: bool = False


@dataclass(frozen=True)
class Outcome:
    """Means over blocks and runs, one element per scenario.

    Parameters
    ----------
    timeouts
        Timeouts of a block.
    handshakes
        Timeouts of a block that were due to a lost SYN or SYN-ACK, which `timeouts` includes.
    seconds
        Duration of a block at the mean goodput over runs, in seconds.
    scatter
        Standard deviation of a run's goodput, divided by the mean goodput.
    error
        Relative standard error of the duration.
    """

    timeouts: Floats
    handshakes: Floats
    seconds: Floats
    scatter: Floats
    error: Floats


SWEEP = Effort()
"""Effort for sweeps: a millisecond per point."""

FEW = Effort(fine=0.03, coarse=0.03, least=200_000, most=8_000_000, blocks=3, rare=True)
"""Effort for a few points: enough to see timeouts that occur once in a hundred blocks."""

MOST_FEW = 40
"""Largest number of points for which the effort is `FEW`."""

ALL_FEW = 40_000_000
"""Maximum number of events with the effort `FEW`, summed over all points.

Two processors simulate this number of events in a second.
"""


def effort_for(points: int) -> Effort:
    """Return the effort for each point, given the number of points."""
    if points > MOST_FEW:
        return SWEEP
    return replace(FEW, most=min(FEW.most, ALL_FEW // max(points, 1)))


SEARCH = Effort(
    fine=0.01, coarse=0.1, clear=3.0, most=2_000_000, blocks=57, limit=20_000_000, rare=True
)
"""Effort for a search in which each point decides how to continue."""


def follow(reads: Reads, effort: Effort = SWEEP) -> Outcome:
    """Simulate every read on all processors, within the limits of `effort`."""
    bounds = (reads.lossless_s / reads.packet_s, LEAST_SHARE, LEAST_TIMEOUTS, LEAST_WAIT)
    timeouts, handshakes, duration, scatter, error = _core.follow_reads(
        reads, bounds, effort, os.cpu_count() or 1
    )
    seconds = duration * reads.packet_s
    return Outcome(timeouts, handshakes, seconds, scatter, error)
