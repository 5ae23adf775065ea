"""Predict the measured sets again with today's simulator, as a test for regressions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from validation.common.judge import Verdict
from validation.live.judge import judged, of_plateaus
from validation.live.predict import predicted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from validation.live.ask import Answer
    from validation.live.judge import Bars, Judged
    from validation.live.predict import Prediction

VERDICTS = 0.9
"""At this share of the knees' ends, simulator and kernel must agree on whether reads collapse."""


def verdicts(
    sets: Sequence[tuple[Sequence[Prediction], Sequence[Answer]]], bars: Bars
) -> list[Verdict]:
    """Judge, by the bars, today's predictions of all points that have a trusted run."""
    found = [one for predictions, answers in sets for one in judged(predictions, answers)]
    knees = [one for one in found if one.prediction.kind == "knee"]
    plateaus = [
        replace(one, prediction=predicted(one.prediction, one.prediction.servers)[0])
        for one in found
        if one.prediction.kind == "plateau" and not math.isnan(one.log_ratio)
    ]
    return [*of_plateaus(plateaus, bars), _of_knees(knees)]


def _of_knees(knees: Iterable[Judged]) -> Verdict:
    ends = [
        (
            f"{one.prediction.rate}, {one.prediction.name}, {servers} servers",
            told.collapsed,
            predicted(one.prediction, servers)[1],
        )
        for one in knees
        for servers, told in one.told.items()
        if told is not None
    ]
    wrong = [name for name, kernel, simulator in ends if kernel != simulator]
    return Verdict(
        f"{VERDICTS:.0%} of the reads at the ends of knees collapse on both sides or on neither",
        f"{len(ends) - len(wrong)} of {len(ends)}",
        tuple(wrong),
        len(wrong) <= (1 - VERDICTS) * len(ends),
    )
