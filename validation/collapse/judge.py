"""Compare the collapse points of the model with the simulated collapse points."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

import incast
from incast.models.collapse import knee
from incast.models.collapse.answers import forecast
from incast.models.collapse.blocks import SEARCH, Effort
from incast.models.collapse.reads import Reads, read
from incast.models.registry import Question
from incast.scenario.resolved import Resolved
from validation.collapse import truth

if TYPE_CHECKING:
    from validation.collapse.draw import Drawn

WITHIN = 0.2


@dataclass(frozen=True)
class Judgement:
    """Simulated and predicted collapse points; NaN if no number up to 256 servers collapses."""

    scenarios: list[Drawn]
    simulated: np.ndarray
    predicted: np.ndarray
    cpu_s: float

    @property
    def collapses(self) -> np.ndarray:
        """Whether each scenario collapses in the simulation."""
        return ~np.isnan(self.simulated)

    @property
    def hits(self) -> np.ndarray:
        """Whether each point is predicted within 20 % or one server, or correctly as NaN."""
        found = near(self.predicted, self.simulated)
        return np.where(self.collapses, found, np.isnan(self.predicted))

    @property
    def errors(self) -> np.ndarray:
        """|ln(predicted / simulated)| of scenarios that collapse; a predicted NaN counts as 256."""
        predicted = np.where(np.isnan(self.predicted), knee.MOST_SERVERS, self.predicted)
        return np.abs(np.log(predicted / self.simulated))[self.collapses]

    @property
    def baseline(self) -> np.ndarray:
        """The errors if the prediction were the median of all simulated points."""
        known = np.log(self.simulated[self.collapses])
        return np.abs(known - np.median(known))


def near(found: np.ndarray, simulated: np.ndarray) -> np.ndarray:
    """Return whether each point is within 20 % or one server of the simulated point."""
    return np.asarray(np.abs(found - simulated) <= np.maximum(1, WITHIN * simulated))


def same(
    known: list[tuple[Drawn, int | None]], again: list[tuple[Drawn, int | None]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the collapse points, and whether a second simulation of each point is near it."""
    pairs = [(first[1], then[1]) for first, then in zip(known, again, strict=False) if first[1]]
    first, then = (np.array(points, dtype=float) for points in zip(*pairs, strict=True))
    return first, near(then, first)


def reads_of(scenarios: list[Drawn]) -> Reads:
    """Return the parameters that the model takes from each scenario."""
    points = [incast.load(drawn.document(2)).plan.points[0].resolved for drawn in scenarios]
    return read([Question(Resolved(point)) for point in points])


@dataclass(frozen=True)
class Agreement:
    """Ratios of goodput and of timeouts at collapse points, one row per scenario.

    The values of `model`, and of runs with other seeds (`others`), are divided by the simulator's.
    """

    model: np.ndarray
    others: np.ndarray


COMPARED, FEW, SEEDS = 60, 24, (301, 501)
THOROUGH = Effort(fine=0.005, coarse=0.0, most=3_000_000)


def agree(known: list[tuple[Drawn, int | None]]) -> Agreement:
    """Compare the simulator with the model, and with runs of the simulator with other seeds.

    The points are the collapse points of the first `COMPARED` scenarios with at most `FEW` servers.
    """
    few = [(drawn, servers) for drawn, servers in known[:COMPARED] if servers and servers <= FEW]
    runs = [
        np.array([(run.goodput, run.timeouts) for run in runs])
        for runs in (
            [truth.simulate(drawn, servers, first_seed) for drawn, servers in few]
            for first_seed in SEEDS
        )
    ]
    servers = np.array([float(servers) for _, servers in few])
    reads = replace(reads_of([drawn for drawn, _ in few]), servers=servers)
    predicted = forecast(reads, THOROUGH)
    model = np.column_stack([predicted.goodput, predicted.timeouts])
    return Agreement(model / runs[0], runs[1] / runs[0])


def judge(known: list[tuple[Drawn, int | None]], effort: Effort = SEARCH) -> Judgement:
    """Run the model on every scenario of a set."""
    scenarios = [drawn for drawn, _ in known]
    reads = reads_of(scenarios)
    start = time.process_time()
    predicted = knee.first_collapse(reads, effort=effort)
    simulated = np.array([np.nan if servers is None else servers for _, servers in known])
    return Judgement(scenarios, simulated, predicted, time.process_time() - start)
