"""The process of packets, followed in Rust (`crates/theory`), and how far.

Runs are followed, from block to block, until the mean block is known: to a few per cent, or so well
that it is clear on which side of the collapse the read is. Most reads are far on one side and cost
little. The requests' jitter is drawn from the same random numbers for every scenario, so that
answers are repeatable.
"""

import os
from dataclasses import dataclass, replace

from incast import _core
from incast.collapse import LEAST_SHARE, LEAST_TIMEOUTS, LEAST_WAIT
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats


@dataclass(frozen=True)
class Effort:
    """How much of a read is followed. Events are packets, ACKs, requests and timers.

    Parameters
    ----------
    fine
        Relative standard error of the mean block that is sufficient.
    coarse
        The same if it is clear whether the read has collapsed.
    clear
        Number of standard errors from which on that is clear.
    least
        Minimum number of events.
    most, blocks
        A sufficient number of events, and of blocks after the first of a run.
    limit
        Events after which a block is not simulated to its end, but continues at the same pace.
    rare
        Whether to continue until a timeout occurs if packets are lost.
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
        Those of them that waited for the answer to a SYN or SYN-ACK.
    seconds
        Duration of a block at which goodput is its mean over runs.
    scatter
        Standard deviation of a run's goodput over its mean.
    error
        Standard error of the duration, relative.
    """

    timeouts: Floats
    handshakes: Floats
    seconds: Floats
    scatter: Floats
    error: Floats


SWEEP = Effort()
"""For sweeps: a millisecond per point."""

FEW = Effort(fine=0.03, coarse=0.03, least=200_000, most=8_000_000, blocks=3, rare=True)
"""For a few points: timeouts are seen that come once in a hundred blocks."""

MOST_FEW = 40
"""Points that are a few."""

ALL_FEW = 40_000_000
"""Events of all of them together: a second of two processors, if not less is enough."""


def effort_for(points: int) -> Effort:
    """Return how far each of this many points is followed."""
    if points > MOST_FEW:
        return SWEEP
    return replace(FEW, most=min(FEW.most, ALL_FEW // max(points, 1)))


SEARCH = Effort(
    fine=0.01, coarse=0.1, clear=3.0, most=2_000_000, blocks=57, limit=20_000_000, rare=True
)
"""For a question that a single point decides."""


def follow(reads: Reads, effort: Effort = SWEEP) -> Outcome:
    """Simulate every read on all processors, within the limit of effort."""
    bounds = (reads.lossless_s / reads.packet_s, LEAST_SHARE, LEAST_TIMEOUTS, LEAST_WAIT)
    timeouts, handshakes, duration, scatter, error = _core.follow_reads(
        reads, bounds, effort, os.cpu_count() or 1
    )
    seconds = duration * reads.packet_s
    return Outcome(timeouts, handshakes, seconds, scatter, error)
