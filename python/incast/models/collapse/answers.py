"""The model `collapse`: goodput, block time and timeouts of a synchronised read."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incast.models.collapse import blocks
from incast.models.collapse.handshake import lost_handshakes
from incast.models.collapse.reads import Reads, read, refusal
from incast.models.numbers import Floats
from incast.models.registry import Answer, NotApplicable, Question

LEAST_SHARE = 0.5
"""Share of the lossless goodput below which a read has collapsed."""
LEAST_TIMEOUTS = 0.5
"""Timeouts per block that it needs besides."""


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
    """Follow the blocks, and lose a handshake where that is more likely than not."""
    ideal = reads.lossless_s
    followed = blocks.follow(reads)
    timeouts = followed.timeouts
    seconds = np.maximum(followed.seconds, ideal)
    # A typical run: it has what is more likely than not.
    lost = lost_handshakes(reads) >= np.log(2.0)
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
