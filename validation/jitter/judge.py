"""Compare the model with the simulator on random reads."""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

import incast
from incast import _core
from incast.models import MODELS, NotApplicable, Question
from incast.models.collapse import trust
from incast.scenario.resolved import Resolved
from validation.common.judge import Verdict
from validation.jitter.draw import scenarios

NEAR = 1.25
LEAST_ANSWERED, LEAST_NEAR = 0.6, 0.9


@dataclass(frozen=True)
class Read:
    """One read: the simulated and the predicted values."""

    tree: dict[str, Any]
    goodput: float
    """Mean goodput over the seeds, bit/s."""
    scatter: float
    """Standard error of the mean goodput, divided by the mean."""
    answer: dict[str, float] | NotApplicable

    @property
    def ratio(self) -> float:
        """Predicted divided by simulated goodput; NaN if the model does not apply to the read."""
        if isinstance(self.answer, NotApplicable):
            return np.nan
        return self.answer["goodput_bps"] / self.goodput

    @property
    def uncertainty(self) -> float:
        """The uncertainty that the model states for its answer."""
        return (
            np.nan
            if isinstance(self.answer, NotApplicable)
            else self.answer["collapse.uncertainty"]
        )


@dataclass(frozen=True)
class Study:
    """All reads of a set, and the seconds that model and simulator took for them."""

    reads: list[Read]
    model_s: float
    simulator_s: float
    seeds: int

    @property
    def answered(self) -> list[Read]:
        """Reads that the model answers."""
        return [read for read in self.reads if not np.isnan(read.ratio)]

    @property
    def near(self) -> float:
        """Share of the answered reads whose predicted goodput is within the factor `NEAR`."""
        return share_near(self.answered)

    def refusals(self) -> list[tuple[str, int]]:
        """Return the reasons why the model does not answer, with the number of reads for each."""
        reasons = [read.answer.reason for read in self.reads if np.isnan(read.ratio)]  # type: ignore[union-attr]
        return Counter(reason.split(":")[0] for reason in reasons).most_common()

    def regions(self) -> list[dict[str, float]]:
        """Return the factors for `incast.models.collapse.trust`."""
        found, low = [], -1.0
        for high in trust.EDGES:
            logs = [abs(np.log(it.ratio)) for it in self.answered if low < it.uncertainty <= high]
            factor = float(np.exp(np.quantile(logs, trust.LEAST))) if logs else NEAR
            # Round up, so that the stated factor is not too small.
            factor = ceil(factor * 100) / 100
            found.append({"most": high, "reads": len(logs), "factor": factor})
            low = high
        return found


def share_near(reads: list[Read]) -> float:
    """Return the share of reads whose predicted goodput is within the factor `NEAR`."""
    return float(np.mean([abs(np.log(it.ratio)) <= np.log(NEAR) for it in reads]))


def study(which: str, count: int, seeds: int, jobs: int) -> Study:
    """Simulate the first reads of a set, and run the model on each read separately."""
    trees = scenarios(which, count)
    for tree in trees:
        tree["run"]["seeds"] = seeds
    points = [incast.load(tree).plan.points[0].resolved for tree in trees]
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda point: _simulate(point, seeds), points))
    start = time.perf_counter()
    answers = [MODELS["collapse"].answer_many([Question(Resolved(it))])[0] for it in points]
    spent = time.perf_counter() - start
    reads = []
    for tree, runs, answer in zip(trees, rows, answers, strict=True):
        goodputs = np.array([row["goodput_bps"] for row in runs])
        mean = float(goodputs.mean())
        error = float(goodputs.std(ddof=1) / np.sqrt(seeds) / mean)
        reads.append(Read(tree, mean, error, answer))
    return Study(reads, spent, sum(row["wall_s"] for runs in rows for row in runs), seeds)


def _simulate(point: dict[str, Any], seeds: int) -> list[dict[str, Any]]:
    scenario = _core.Scenario(json.dumps(point))
    rows = [_core.run(scenario, seed)["rows"][0] for seed in range(1, seeds + 1)]
    for row in rows:
        if row["status"] != "ok":
            raise RuntimeError(f"{point}: {row['status']}")
    return rows


def verdicts(judged: Study, margin: float = 0.0) -> list[Verdict]:
    """Judge a study by its bars; the shares may be lower than the bars by `margin`."""
    share = len(judged.answered) / len(judged.reads)
    worst = sorted(judged.answered, key=lambda it: -abs(np.log(it.ratio)))
    return [
        Verdict(
            f"answered: at least {LEAST_ANSWERED:.0%} of the reads",
            f"{len(judged.answered)} of {len(judged.reads)} ({share:.0%})",
            (),
            share >= LEAST_ANSWERED - margin,
        ),
        Verdict(
            f"goodput within a factor of {NEAR} for {LEAST_NEAR:.0%} or more of the answered reads",
            f"{judged.near:.0%}; worst {worst[0].ratio:.2f}" if worst else "none",
            (),
            bool(worst) and judged.near >= LEAST_NEAR - margin,
        ),
    ]
