"""Means and confidence intervals."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from incast.results.statistics import summarise


def row(point: int, seed: int, goodput: float | None, status: str = "ok") -> dict[str, Any]:
    return {
        "x": point * 10, "seed": seed, "group": "all", "status": status, "goodput_bps": goodput,
        "timeouts": seed, "blocks": 4, "point": point,
    }  # fmt: skip


@settings(deadline=None)  # the first example imports SciPy
@given(st.lists(st.floats(1e3, 1e11), min_size=2, max_size=40))
def test_the_interval_is_students(values: list[float]) -> None:
    frame = pl.DataFrame([row(0, seed, value) for seed, value in enumerate(values)])
    summary = summarise(frame, ["x"])
    low, high = stats.t.interval(
        0.95, len(values) - 1, np.mean(values), max(stats.sem(values), 1e-300)
    )
    assert summary["goodput_bps"][0] == pytest.approx(np.mean(values))
    assert summary["goodput_bps_ci95"][0] == pytest.approx((high - low) / 2, abs=1e-3)


def test_one_seed_has_a_mean_and_no_interval() -> None:
    summary = summarise(pl.DataFrame([row(0, 1, 5e8)]), ["x"])
    assert summary["goodput_bps"].to_list() == [5e8]
    assert summary["goodput_bps_ci95"].to_list() == [None]


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
