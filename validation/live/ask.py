"""Ask the kernel, point by point; what is measured is kept, and nothing is asked twice."""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import incast
from incast.sweep import run
from validation.live.predict import runs

if TYPE_CHECKING:
    from collections.abc import Callable
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
        Of the run.
    status
        `ok`, `untrusted` or `time-limit`.
    goodput_mbps, timeouts, blocks
        What was measured.
    late_p99_us
        By how much 99 of 100 frames left the switch too late at most.
    """

    point: int
    servers: int
    seed: int
    status: str
    goodput_mbps: float
    timeouts: int
    blocks: int
    late_p99_us: float

    @property
    def row(self) -> dict[str, Any]:
        """It as a row of results."""
        return {
            "goodput_bps": self.goodput_mbps * 1e6,
            "timeouts": self.timeouts,
            "blocks": self.blocks,
        }


def ask(path: Path, predictions: list[Prediction], tell: Callable[[Answer], None]) -> list[Answer]:
    """Do the runs that are not in the table yet, and add them to it."""
    answers = read(path) if path.exists() else []
    done = {(one.point, one.servers, one.seed) for one in answers}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Answer)], lineterminator="\n")
        if not answers:
            writer.writeheader()
        for point, servers, seed in runs(predictions):
            if (point, servers, seed) in done:
                continue
            prediction = predictions[point]
            document = prediction.read.document(servers, prediction.blocks)
            answer = _measured(point, servers, seed, document)
            writer.writerow(asdict(answer))
            file.flush()
            tell(answer)
            answers.append(answer)
    return answers


def _measured(point: int, servers: int, seed: int, document: dict[str, Any]) -> Answer:
    from incast.live.backend import Kernel  # Linux only

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
    )


def read(path: Path) -> list[Answer]:
    """Read the table."""
    with path.open(newline="") as file:
        kinds = {"int": int, "float": float, "str": str}
        return [
            Answer(
                **{field.name: kinds[str(field.type)](row[field.name]) for field in fields(Answer)}
            )  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]
