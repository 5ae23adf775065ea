"""Measure each prediction once, with its commands and without them, and store the measurements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.advised.testbed import Testbed
from validation.live import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from validation.advised.predict import Prediction

SEEDS = (1, 2, 3)
MOST_TRIES = 4
"""Maximum number of attempts until a run is trusted; trust does not depend on the goodput."""


@dataclass(frozen=True)
class Answer:
    """A run of the kernel.

    Parameters
    ----------
    point
        Number of the prediction, from 0.
    fixed
        1 with the commands of the fix, 0 without.
    seed, attempt
        Seed and attempt of the run.
    status
        `ok`, `untrusted` or `time-limit`.
    goodput_mbps, timeouts, blocks
        Measured goodput, number of timeouts, and number of blocks.
    late_p99_us
        The 99th percentile of the delays with which frames left the switch.
    changed, restored
        Whether the commands changed the state, and whether the rollback restored it byte for byte;
        -1 if no commands were run.
    """

    point: int
    fixed: int
    seed: int
    attempt: int
    status: str
    goodput_mbps: float
    timeouts: int
    blocks: int
    late_p99_us: float
    changed: int = -1
    restored: int = -1
    p99_ms: float = math.nan


def ask(path: Path, predictions: Sequence[Prediction], tell: Callable[[Answer], None]) -> None:
    """Measure the predictions that are not in the table yet, and add the runs to it."""
    done = {one.point for one in table.read(path, Answer)} if path.exists() else set()
    for point, prediction in enumerate(predictions):
        if point not in done:
            answers = list(measured(point, prediction, SEEDS))
            table.add(path, Answer, answers)
            for answer in answers:
                tell(answer)


def measured(point: int, one: Prediction, seeds: Sequence[int]) -> Iterator[Answer]:
    """Measure one prediction, alternately without its commands and with them."""
    with Testbed(one) as bed:
        for seed in seeds:
            yield from _tries(bed, point, seed)
            before = bed.state()
            bed.apply()
            during = bed.state()
            # A short run, so that no connections or tables of the kernel from before remain.
            bed.run(seed, applied=True, blocks=1)
            answers = list(_tries(bed, point, seed, fixed=1))
            bed.roll_back()
            told = (-1, -1)
            if not bed.is_code:
                told = (int(during != before), int(bed.state() == before))
            for answer in answers:
                yield Answer(**{**vars(answer), "changed": told[0], "restored": told[1]})


def _tries(bed: Testbed, point: int, seed: int, fixed: int = 0) -> Iterator[Answer]:
    """Repeat a run until it is trusted."""
    for attempt in range(1, MOST_TRIES + 1):
        row = bed.run(seed, applied=bool(fixed))
        yield Answer(
            point,
            fixed,
            seed,
            attempt,
            row["status"],
            round(row["goodput_bps"] / 1e6, 3),
            row["timeouts"],
            row["blocks"],
            round(row["live.late_p99_s"] * 1e6, 1),
            p99_ms=round(row["completion_p99_s"] * 1e3, 3),
        )
        if row["status"] != "untrusted":
            return
