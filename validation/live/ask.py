"""Measure the kernel point by point. Each run is stored, and no run is repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import incast
from incast.sweep import run
from validation.live import table
from validation.live.predict import runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from validation.live.predict import Prediction


@dataclass(frozen=True)
class Answer:
    """A run of the kernel.

    Parameters
    ----------
    point
        Number of the prediction, from 0.
    servers, seed
        Number of servers and seed of the run.
    status
        `ok`, `untrusted` or `time-limit`.
    goodput_mbps, timeouts, blocks
        Measured goodput, number of timeouts, and number of blocks.
    block_ms
        Median time of a block; NaN in older sets.
    late_p99_us
        The 99th percentile of the delays with which frames left the switch.
    """

    point: int
    servers: int
    seed: int
    status: str
    goodput_mbps: float
    timeouts: int
    blocks: int
    late_p99_us: float
    block_ms: float = math.nan

    @property
    def row(self) -> dict[str, Any]:
        """The run as a row of results."""
        return {
            "goodput_bps": self.goodput_mbps * 1e6,
            "timeouts": self.timeouts,
            "blocks": self.blocks,
            "completion_p50_s": self.block_ms / 1e3,
        }


def ask(path: Path, predictions: Sequence[Prediction], tell: Callable[[Answer], None]) -> None:
    """Do the runs that the table does not contain yet, and add them to the table."""
    answers = table.read(path, Answer) if path.exists() else []
    done = {(one.point, one.servers, one.seed) for one in answers}

    def measured() -> Iterator[Answer]:
        for due in runs(predictions):
            if due not in done:
                answer = _measured(*due, predictions[due[0]])
                tell(answer)
                yield answer

    table.add(path, Answer, measured())


def _measured(point: int, servers: int, seed: int, prediction: Prediction) -> Answer:
    from incast.live.backend import Kernel  # Linux only

    document = prediction.document(servers, prediction.blocks)
    scenario = incast.load(document | {"run": {"seeds": [seed]}})
    row = run(scenario, jobs=1, backend=Kernel()).frame().to_dicts()[0]
    return Answer(
        point,
        servers,
        seed,
        row["status"],
        round(row["goodput_bps"] / 1e6, 3),
        row["timeouts"],
        row["blocks"],
        round(row["live.late_p99_s"] * 1e6, 1),
        round((row["completion_p50_s"] or math.nan) * 1e3, 3),
    )
