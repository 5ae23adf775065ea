"""The model `collapse`: goodput, block time and timeouts of a synchronised read."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from incast.collapse import collapsed
from incast.models.collapse import blocks, trust
from incast.models.collapse.conditions import refusal
from incast.models.collapse.reads import Reads, read
from incast.models.numbers import Floats
from incast.models.registry import Answer, NotApplicable, Question


@dataclass(frozen=True)
class Forecast:
    """The predicted means over runs, one element per read.

    Parameters
    ----------
    goodput
        Goodput, bit/s.
    lossless
        Goodput without losses, bit/s.
    seconds
        Mean duration of a block, in seconds.
    timeouts
        Mean number of timeouts per block.
    waits
        Minimum total duration of the timeouts of a block, in seconds.
    scatter
        Standard deviation of a run's goodput, divided by the mean goodput.
    error
        Relative standard error of goodput.
    """

    goodput: Floats
    lossless: Floats
    seconds: Floats
    timeouts: Floats
    waits: Floats
    scatter: Floats
    error: Floats

    @property
    def collapsed(self) -> NDArray[np.bool_]:
        """Whether each read has collapsed (see `incast.collapse`)."""
        bits = self.goodput * self.seconds
        return collapsed(self.goodput, self.lossless, bits, self.timeouts, self.waits)


def forecast(reads: Reads, effort: blocks.Effort = blocks.SWEEP) -> Forecast:
    """Simulate the reads within the limits of `effort`."""
    followed = blocks.follow(reads, effort)
    seconds = np.maximum(followed.seconds, reads.least_s)
    bits, timeouts = reads.payload_bits, followed.timeouts
    of_data = timeouts - followed.handshakes
    return Forecast(
        bits / seconds,
        bits / reads.lossless_s,
        seconds,
        timeouts,
        of_data * reads.rto_min + followed.handshakes * reads.syn_rto,
        followed.scatter,
        followed.error,
    )


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer the questions about reads to which the model applies.

    With few questions, each read is simulated for longer, because rare timeouts matter. For
    example, one timeout of 200 ms in a hundred blocks of 1 ms takes two thirds of the time.
    """
    reasons = [refusal(question) for question in questions]
    asked = [question for question, why in zip(questions, reasons, strict=True) if why is None]
    result = forecast(read(asked), blocks.effort_for(len(asked))) if asked else None
    answers: list[Answer] = []
    number = 0
    for question, why in zip(questions, reasons, strict=True):
        if why is not None or result is None:
            answers.append(NotApplicable(why or ""))
            continue
        answers.append(_answer(question, result, number))
        number += 1
    return answers


def _answer(question: Question, result: Forecast, number: int) -> Answer:
    """Answer one question, unless the result depends on chance."""
    point = question.point
    scatter, error = float(result.scatter[number]), float(result.error[number])
    uncertainty = hypot(scatter / sqrt(trust.RUNS), error)
    if uncertainty > trust.MOST:
        return NotApplicable(trust.chance(uncertainty, int(point.workload["blocks"])))
    return {
        "goodput_bps": float(result.goodput[number]),
        "completion_s": float(result.seconds[number]),
        "timeouts_per_block": float(result.timeouts[number]),
        "collapse.lossless_goodput_bps": float(result.lossless[number]),
        "collapse.collapsed": float(result.collapsed[number]),
        "collapse.uncertainty": uncertainty,
        "collapse.factor": trust.region(uncertainty).factor,
    }


def say(frame: pl.DataFrame) -> str:
    """Describe the uncertainty of these answers."""
    return trust.line(frame["collapse.uncertainty"].to_list())
