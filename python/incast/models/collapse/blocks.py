"""The chain of blocks, followed in Rust (`crates/theory`), and how far.

What a block leaves behind is what the next one begins with: the window and the slow-start threshold
of every connection. A block begins with a burst of all windows, goes on round trip by round trip,
and ends when the last connection has its data. The expectation over requests' jitter and phases is
taken over samples with the same random numbers for every scenario, so that answers are repeatable
and curves smooth.
"""

import os
from dataclasses import dataclass

from incast import _core
from incast.models.collapse.reads import Reads
from incast.models.numbers import Floats


@dataclass(frozen=True)
class Effort:
    """How much of a read is followed.

    Parameters
    ----------
    least_samples, most_samples
        Of a read.
    error
        Standard error of the mean block, relative, at which no more samples are taken.
    least_blocks, most_blocks
        Of a sample; what follows is like the second half of them.
    rounds
        Of a block; what is left then goes on at the same pace.
    work
        Windows that senders send, after which the least of samples and blocks is enough.
    """

    least_samples: int = 2
    most_samples: int = 24
    error: float = 0.02
    least_blocks: int = 2
    most_blocks: int = 20
    rounds: int = 3000
    work: int = 50_000


@dataclass(frozen=True)
class Outcome:
    """Means over blocks and samples, one element per scenario.

    Parameters
    ----------
    timeouts
        Timeouts of a block.
    seconds
        Duration of a block.
    """

    timeouts: Floats
    seconds: Floats


EFFORT = Effort()


def follow(reads: Reads, effort: Effort = EFFORT) -> Outcome:
    """Follow every read on all processors."""
    timeouts, duration = _core.follow_reads(reads, effort, os.cpu_count() or 1)
    return Outcome(timeouts, duration * reads.packet_s)
