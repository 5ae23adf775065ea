"""Points with a wide interval get more seeds: their number, and the coverage of the interval."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import incast
from conftest import document
from incast import _core
from incast.results import Results, precision
from incast.results.frames import Run
from incast.results.store import Memory
from incast.scenario.plan import Job, Plan
from incast.sweep.rounds import refine

POINTS, LINE = 400, 1e9
Draw = Callable[[np.random.Generator], float]

# A function that draws a goodput in units of the line rate, and the mean goodput.
STEADY: tuple[Draw, float] = (lambda chance: float(chance.normal(0.6, 0.05)), 0.6)
SKEWED: tuple[Draw, float] = (lambda chance: float(0.9 - min(chance.exponential(0.1), 0.9)), 0.8)
OUTCOMES: tuple[Draw, float] = (
    lambda chance: float(chance.choice([0.9, 0.3]) + chance.normal(0, 0.01)),
    0.6,
)


def plan(target: float, seeds: int = 5, most: int = 160) -> Plan:
    delays = [f"{n}us" for n in range(1, POINTS + 1)]
    tree = document(
        sweep={"network.delay": delays},
        run={"seeds": seeds, "precision": target, "most_seeds": most},
    )
    return incast.load(tree).plan


def drawn(wanted: Plan, draw: Draw) -> Results:
    """Run a plan whose goodput is random; its points are repetitions of the same point."""
    store = Memory()
    like = _core.run(wanted.points[0].scenario, 1)["rows"][0]

    def output(job: Job) -> dict[str, Any]:
        goodput = LINE * draw(np.random.default_rng([job.index, job.seed]))
        return {"rows": [{**like, "goodput_bps": goodput}]}

    def run(jobs: Iterable[Job]) -> None:
        store.put([Run(job, output(job)) for job in jobs if not store.has(job)])

    return Results(refine(wanted, store, run, lambda _: None), store)


def coverage(results: Results, mean: float) -> float:
    """Return the share of points whose interval contains the mean."""
    ends = pl.col("goodput_bps_ci95_low"), pl.col("goodput_bps_ci95_high")
    return results.summary().filter(ends[0] <= mean * LINE, ends[1] >= mean * LINE).height / POINTS


@pytest.mark.parametrize(
    ("of", "target", "seeds"), [(STEADY, 0.05, 5), (SKEWED, 0.1, 5), (OUTCOMES, 0.3, 10)],
    ids=["steady", "skewed", "outcomes"],
)  # fmt: skip
def test_intervals_of_points_that_stop_early_hold_the_mean_as_often_as_stated(
    of: tuple[Draw, float], target: float, seeds: int
) -> None:
    results = drawn(plan(target, seeds), of[0])
    assert results.summary()["runs"].n_unique() > 1  # points stop after different rounds
    assert coverage(results, of[1]) >= 0.95


@pytest.mark.parametrize(
    ("seeds", "most", "numbers"),
    [(5, 5, [5]), (5, 20, [5, 10, 20]), (5, 21, [5, 10, 20, 21]), (3, 5, [3, 5])],
)
def test_no_look_is_beyond_the_most_seeds(seeds: int, most: int, numbers: list[int]) -> None:
    precision = plan(0.1, seeds, most).precision
    assert precision is not None
    assert precision.looks == numbers


def test_stopping_without_the_correction_would_miss_the_mean_too_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precision, "confidence_of", lambda _: 0.95)
    monkeypatch.setattr("incast.results.confidence_of", lambda _: 0.95)
    assert coverage(drawn(plan(0.1), SKEWED[0]), SKEWED[1]) < 0.92


def test_seeds_are_added_where_the_interval_is_wide_and_nowhere_else() -> None:
    results = drawn(plan(0.05, most=40), STEADY[0])
    assert results.plan.precision is not None
    assert results.plan.precision.looks == [5, 10, 20, 40]

    def wide(number: int) -> set[int]:
        """Return the points whose intervals are too wide with the first `number` seeds."""
        part = replace(results.plan, seeds=results.plan.seeds[:number])
        found = Results(part, results.store).summary()
        low, mean, high = (found[f"goodput_bps{end}"] for end in ("_ci95_low", "", "_ci95_high"))
        return set(found.filter(pl.max_horizontal(high - mean, mean - low) > 0.05 * mean)["point"])

    stopped = dict(results.summary().select("point", "runs").iter_rows())
    assert set(stopped.values()) == {5, 10, 20, 40}
    for number in (5, 10, 20):
        later = {point for point, runs in stopped.items() if runs > number}
        there = {point for point, runs in stopped.items() if runs >= number}
        assert wide(number) & there == later
    capped = wide(40) & {point for point, runs in stopped.items() if runs == 40}
    assert capped
    reached, not_reached = results.notes
    assert f"reached at {POINTS - len(capped)} of {POINTS} points, with 5 to 40 seeds" in reached
    assert not_reached.startswith("Not reached with 40 seeds (run.most_seeds): delay = ")
    assert not_reached.endswith(f" and {len(capped) - 5} more.")


def test_a_point_where_no_run_finishes_gets_no_more_seeds() -> None:
    tree = document(run={"seeds": 3, "precision": 0.1, "time_limit": "1us"})
    results = incast.run(tree)
    assert len(results) == 3
    assert results.notes[-1] == "1 point without an interval: fewer than two runs finished."


def test_the_first_seeds_are_those_of_the_plan() -> None:
    wanted = plan(0.05).precision
    assert wanted is not None
    assert wanted.seeds([7, 2, 9, 1, 4], 8) == [7, 2, 9, 1, 4, 3, 5, 6]
    assert wanted.seeds([1, 2, 3, 4, 5], 10) == list(range(1, 11))
