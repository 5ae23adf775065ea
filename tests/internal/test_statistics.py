"""Means and confidence intervals."""

import time
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from incast.results.intervals import Samples, interval
from incast.results.statistics import summarise


def row(point: int, seed: int, goodput: float | None, status: str = "ok") -> dict[str, Any]:
    return {
        "x": point * 10, "seed": seed, "group": "all", "status": status, "goodput_bps": goodput,
        "timeouts": seed, "blocks": 4, "point": point,
    }  # fmt: skip


POSSIBLE = st.one_of(
    st.floats(0, 1e9), st.sampled_from([0.0, 1e9]), st.floats(9e8, 9.001e8), st.floats(0, 1e-300)
)


@settings(deadline=None)  # the first example is slow, because it imports SciPy
@given(st.lists(POSSIBLE, min_size=2, max_size=40), st.sampled_from([1e9, np.inf]))
def test_intervals_hold_the_mean_and_never_leave_what_is_possible(
    values: list[float], highest: float
) -> None:
    low, high = interval(Samples.of(values), 0.0, highest)
    mean = np.mean(values)
    assert 0 <= low <= mean * (1 + 1e-12)
    assert mean * (1 - 1e-12) <= high <= highest
    if max(values) - min(values) > max(1e-9 * max(values), 1e-100):  # not only rounding errors
        assert high > low
    flags = [float(value > 5e8) for value in values]
    low, high = interval(Samples.of(flags), 0.0, 1.0, flags=True)
    assert 0 <= low <= np.mean(flags) <= high <= 1
    assert high - low > 0


# The squares of smaller numbers would have few significant digits, or be 0.
SCALABLE = st.floats(-1e6, 1e6).map(lambda value: round(value, 9))


@settings(deadline=None)
@given(st.lists(SCALABLE, min_size=2, max_size=12), st.floats(0.01, 100))
def test_intervals_scale_and_turn_with_their_samples(values: list[float], scale: float) -> None:
    low, high = interval(Samples.of(values), -np.inf, np.inf)
    much, more = interval(Samples.of(np.multiply(values, scale)), -np.inf, np.inf)
    wide = pytest.approx((low * scale, high * scale), rel=1e-6, abs=1e-6 * scale * (high - low))
    # For values of at least 0, the method depends on their scatter, and rounding may change it.
    assert (much, more) == wide or min(values) >= 0


@pytest.mark.parametrize(("count", "of"), [(0, 10), (1, 10), (4, 10), (10, 10), (1, 2)])
def test_yes_and_no_have_the_interval_of_clopper_and_pearson(count: int, of: int) -> None:
    low, high = interval(Samples.of([1.0] * count + [0.0] * (of - count)), 0, 1, flags=True)
    exact = stats.binomtest(count, of).proportion_ci(0.95, "exact")
    assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-6)


@settings(deadline=None)
@given(st.lists(st.floats(100, 190), min_size=2, max_size=20))
def test_seeds_that_agree_have_at_least_students_interval(values: list[float]) -> None:
    low, high = interval(Samples.of(values), 0.0, np.inf)
    student = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values) + 1e-300)
    assert low <= max(student[0], 0.0) + 1e-9
    assert high >= student[1] - 1e-9


def test_two_outcomes_are_covered_where_students_interval_fails() -> None:
    """One seed in eight is fast, so a quarter of the samples of ten seeds have no fast seed."""
    random = np.random.default_rng(1)
    goodput = np.where(
        random.random((4000, 10)) < 1 / 8, 930.0, random.uniform(60, 300, (4000, 10))
    )
    truth = 930 / 8 + 180 * 7 / 8
    low, high = interval(Samples.of(goodput), 0.0, 1000.0)
    assert np.mean((low <= truth) & (truth <= high)) > 0.93
    half = stats.t.ppf(0.975, 9) * stats.sem(goodput, axis=1)
    assert np.mean(np.abs(goodput.mean(1) - truth) <= half) < 0.85
    assert np.median(high - low) < 1.2 * np.median(2 * half)


def test_thousands_of_points_are_summarised_at_once() -> None:
    random = np.random.default_rng(2)
    count = 3000
    frame = pl.DataFrame(
        {
            "x": np.repeat(np.arange(count), 10), "seed": np.tile(np.arange(10), count),
            "group": "all", "status": "ok", "timeouts": random.poisson(3, 10 * count),
            "goodput_bps": random.uniform(0, 1e9, 10 * count), "blocks": 4,
            "point": np.repeat(np.arange(count), 10),
        }
    )  # fmt: skip
    start = time.process_time()
    summary = summarise(frame, ["x"])
    assert time.process_time() - start < 3
    assert summary.height == count
    assert (summary["goodput_bps_ci95_low"] >= 0).all()


def test_one_seed_has_a_mean_and_no_interval() -> None:
    summary = summarise(pl.DataFrame([row(0, 1, 5e8)]), ["x"])
    assert summary["goodput_bps"].to_list() == [5e8]
    assert summary["goodput_bps_ci95_low"].to_list() == [None]
    assert summary["goodput_bps_ci95_high"].to_list() == [None]


def test_points_keep_their_order_and_values() -> None:
    frame = pl.DataFrame([row(point, seed, 1e8) for point in (1, 0) for seed in (1, 2)])
    summary = summarise(frame, ["x"])
    assert summary["point"].to_list() == [1, 0]
    assert summary["x"].to_list() == [10, 0]


def test_only_finished_runs_count() -> None:
    rows = [row(0, 1, 1e8), row(0, 2, 3e8), row(0, 3, 9e9, "time-limit")]
    summary = summarise(pl.DataFrame(rows), ["x"])
    assert summary["goodput_bps"].to_list() == [2e8]
    assert summary["runs"].to_list() == [3]
    assert summary["ok"].to_list() == [2]
    assert summary["status"].to_list() == ["2 of 3 ok, 1 of 3 time-limit"]
    assert summary["timeouts_per_block"].to_list() == [(1 + 2) / 2 / 4]


def test_a_point_without_a_finished_run_has_no_numbers() -> None:
    rows = [row(0, 1, 1e8), row(1, 1, None, "time-limit")]
    summary = summarise(pl.DataFrame(rows, infer_schema_length=None), ["x"])
    assert summary["goodput_bps"].to_list() == [1e8, None]
    assert summary["status"].to_list() == ["ok", "1 of 1 time-limit"]
