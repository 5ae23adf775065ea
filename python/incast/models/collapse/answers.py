"""The model `collapse`: goodput, block time and timeouts of a synchronised read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incast.models.collapse import blocks, straggler
from incast.models.collapse.crowd import LEAST_SERVERS, crowd
from incast.models.collapse.reads import Reads, read, refusal
from incast.models.numbers import Floats
from incast.models.registry import Answer, NotApplicable, Question

LEAST_SHARE = 0.5
"""Share of the lossless goodput below which a read has collapsed."""
LEAST_TIMEOUTS = 0.5
"""Timeouts per block that it needs besides."""
_LIKELY = 0.5


@dataclass(frozen=True)
class Forecast:
    """What a typical run gives, one element per read.

    Parameters
    ----------
    goodput
        bit/s.
    lossless
        The same where nothing is lost, bit/s.
    seconds
        Mean duration of a block.
    timeouts
        Timeouts of a block, mean.
    """

    goodput: Floats
    lossless: Floats
    seconds: Floats
    timeouts: Floats

    @property
    def collapsed(self) -> NDArray[np.bool_]:
        """Less than half of the lossless goodput, and a timeout in every other block."""
        slow = self.goodput < LEAST_SHARE * self.lossless
        return slow & (self.timeouts >= LEAST_TIMEOUTS)


def forecast(reads: Reads) -> Forecast:
    """Join both chains: each knows timeouts that the other does not, the longer wait counts."""
    ideal = reads.lossless_s
    timeouts, seconds = np.zeros(len(reads)), ideal.copy()
    few = np.flatnonzero(reads.servers <= blocks.MOST_SERVERS)
    if few.size:
        followed = blocks.follow(reads.take(few))
        timeouts[few] = followed.timeouts
        seconds[few] = np.maximum(followed.seconds, ideal[few])
    many = np.flatnonzero(reads.servers >= LEAST_SERVERS)
    if many.size:
        part = reads.take(many)
        state = crowd(part)
        timeouts[many] = np.maximum(timeouts[many], part.servers * state.timeouts)
        stretched = ideal[many] * straggler.stretch(part.servers, state.waiting)
        seconds[many] = np.maximum(seconds[many], stretched)
        # Where timers are longer than blocks, one timeout is what a block takes.
        some = -np.expm1(-timeouts[many])
        seconds[many] = np.maximum(seconds[many], some * part.rto_min)
    # A typical run: it has what is more likely than not.
    lost = straggler.handshake_loss(reads) >= _LIKELY
    seconds = seconds + np.where(lost, reads.syn_rto / reads.blocks, 0.0)
    bits = reads.payload_bits
    return Forecast(bits / seconds, bits / ideal, seconds, timeouts)


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer for reads over persistent connections and a drop-tail buffer."""
    reasons = [refusal(question) for question in questions]
    asked = [question for question, why in zip(questions, reasons, strict=True) if why is None]
    result = forecast(read(asked)) if asked else None
    answers: list[Answer] = []
    number = 0
    for why in reasons:
        if why is not None or result is None:
            answers.append(NotApplicable(why or ""))
            continue
        answers.append(
            {
                "goodput_bps": float(result.goodput[number]),
                "completion_s": float(result.seconds[number]),
                "timeouts_per_block": float(result.timeouts[number]),
                "collapse.lossless_goodput_bps": float(result.lossless[number]),
                "collapse.collapsed": float(result.collapsed[number]),
            }
        )
        number += 1
    return answers
