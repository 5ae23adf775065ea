"""The chain of blocks: what a block leaves behind is what the next one begins with.

The state is the window and the slow-start threshold of every connection at the end of a block. A
block begins with a burst of all windows (`opening`), goes on round trip by round trip (`rounds`),
and ends when the last connection has its data. The expectation over requests' jitter and phases is
taken over samples with the same random numbers for every scenario, so that answers are repeatable
and curves smooth.
"""

from dataclasses import dataclass

import numpy as np

from incast.models.collapse.burst import Draws
from incast.models.collapse.opening import Opening
from incast.models.collapse.reads import Reads
from incast.models.collapse.rounds import play
from incast.models.collapse.senders import Senders
from incast.models.numbers import Floats

_WIDTHS = (8, 24, 48, 96, 256, 512, 1024)
_SAMPLES = 24  # of a scenario, up to _CROWD servers
# Beyond, this many senders are followed for one scenario, all samples together; more where losses
# are rare, which are quickly followed.
_OFTEN, _RARE = 192, 768
_CROWD = 24  # servers beyond which one block is much like another, and fewer are followed
_FOLLOWED, _FOLLOWED_CROWD = 10, 5  # blocks; what follows is like the second half of these
_ROUNDS, _ROUNDS_CROWD = 400, 1000  # of a block
_DRAWN = 61  # rounds after which random numbers repeat; a prime


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


def follow(reads: Reads) -> Outcome:
    """Follow every read."""
    timeouts, seconds = np.zeros(len(reads)), np.zeros(len(reads))
    sizes = np.searchsorted(_WIDTHS, reads.servers)
    for size, width in enumerate(_WIDTHS):
        for rare in (False, True):
            index = np.flatnonzero((sizes == size) & (reads.sparse == rare))
            if index.size:
                part = _Chain(reads.take(index), width, _RARE if rare else _OFTEN).run()
                timeouts[index], seconds[index] = part.timeouts, part.seconds
    return Outcome(timeouts, seconds)


class _Chain:
    """Samples of reads whose connections fit into `width` columns."""

    def __init__(self, reads: Reads, width: int, senders: int) -> None:
        self.reads, self.width = reads, width
        self.points = len(reads)
        self.crowd = width > _CROWD
        self.samples = max(1, senders // width) if self.crowd else _SAMPLES
        each = reads.take(np.repeat(np.arange(self.points), self.samples))
        self.each = each
        exists = np.arange(width) < each.servers[:, None]
        self.sizes = np.where(exists, each.segments[:, None], 0.0)
        self.senders = Senders.connected(each.initial_window, width)

    def run(self) -> Outcome:
        """Follow block after block."""
        most = _FOLLOWED_CROWD if self.crowd else _FOLLOWED
        counts, times = [], []
        for block in range(min(most, int(self.reads.blocks.max(initial=1)))):
            timeouts, seconds = self.block(block)
            counts.append(self._per_point(timeouts))
            times.append(self._per_point(seconds))
        return Outcome(self._mean(np.array(counts)), self._mean(np.array(times)))

    def _per_point(self, values: Floats) -> Floats:
        return np.asarray(values.reshape(self.points, self.samples).mean(axis=1))

    def _mean(self, followed: Floats) -> Floats:
        """Average over the blocks of a run, the later ones like those last followed."""
        blocks = self.reads.blocks
        done = np.arange(len(followed))[:, None] < blocks
        total = np.where(done, followed, 0.0).sum(axis=0)
        late = followed[len(followed) // 2 :].mean(axis=0)
        return np.asarray((total + late * np.maximum(blocks - len(followed), 0.0)) / blocks)

    def block(self, block: int) -> tuple[Floats, Floats]:
        """Play one block; return timeouts and seconds of every sample."""
        each = self.each
        gaps = self._uniform(_source(block, 0), self.width) * 2 * each.gap[:, None]
        gaps[:, 0] = 0.0
        start = gaps.cumsum(axis=1)
        self.senders.ask(self.sizes, start)
        slow_start = block == 0
        opening = Opening(each, self.senders, start, slow_start)
        meetings = [self._draws(block, number) for number in range(Opening.rounds(slow_start))]
        timeouts, clock = opening.play(meetings)
        draws = _source(block, 2).random((_DRAWN, 3, self.samples, self.width))
        most = _ROUNDS_CROWD if self.crowd else _ROUNDS
        later, ends = play(each, self.senders, clock, draws, most)
        asked = np.where(self.sizes > 0, start, 0.0).max(axis=1) + each.segments
        work = np.maximum(asked, each.servers * each.segments) + each.pipe
        return timeouts + later, np.maximum(ends, work) * each.packet_s

    def _uniform(self, source: np.random.Generator, columns: int) -> Floats:
        """Draw for every sample; scenarios share them."""
        return np.tile(source.random((columns, self.samples)).T, (self.points, 1))

    def _draws(self, block: int, meeting: int) -> Draws:
        source = _source(block, 1, meeting)
        phases, wins, hits = (self._uniform(source, times * self.width) for times in (1, 2, 2))
        return phases, wins, hits


def _source(*place: int) -> np.random.Generator:
    """Return the random numbers of one place of the chain, the same for all scenarios."""
    return np.random.default_rng([20, *place])
