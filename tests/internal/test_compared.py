"""Comparisons of percentiles of block times: their values, and the coverage of their intervals."""

import numpy as np
import polars as pl
import pytest

from incast.advise.search import Gain
from incast.results import pooled
from incast.results.compare import SHARES, Compared, Finding, paired, percentiles

P99 = "completion_p99_s"


def drawn(random: np.random.Generator, seeds: int, late: float) -> list[np.ndarray]:
    """Return block times per seed: about 2 ms, and with the probability `late` 200 ms more."""
    return [random.normal(0.002, 1e-4, 20) + 0.2 * (random.random(20) < late) for _ in range(seeds)]


def rows(blocks: list[np.ndarray]) -> pl.DataFrame:
    """Return the rows of one point."""
    records = [
        {"point": 0, "status": "ok", "blocks": len(one), "completions_s": list(one)}
        for one in blocks
    ]
    return pl.DataFrame(records)


@pytest.mark.parametrize("column", pooled.PERCENTILES)
def test_a_comparison_has_the_percentiles_of_a_summary(column: str) -> None:
    random = np.random.default_rng(1)
    ours, theirs = drawn(random, 6, 0.05), drawn(random, 6, 0.2)
    told = percentiles(column, (ours, theirs))
    first, second = (pooled.pool(rows(one))[column][0] for one in (ours, theirs))
    assert (told.a, told.b, told.difference) == (first, second, second - first)
    assert told.seeds == 6


def test_the_slowest_block_is_that_of_all_seeds_and_has_no_interval() -> None:
    ours, theirs = [np.array([1.0, 5.0]), np.array([2.0])], [np.array([1.0]), np.array([3.0])]
    told = percentiles("completion_max_s", (ours, theirs))
    assert (told.a, told.b, told.low, told.finding) == (5.0, 3.0, None, Finding.UNKNOWN)


def test_equal_blocks_are_the_same_and_one_seed_says_nothing() -> None:
    blocks = drawn(np.random.default_rng(2), 4, 0.1)
    assert percentiles(P99, (blocks, blocks)).finding is Finding.SAME
    told = percentiles(P99, (blocks[:1], blocks[1:2]))
    assert (told.low, told.finding) == (None, Finding.UNKNOWN)


def test_a_tail_that_is_gone_is_better_and_back_again_worse() -> None:
    random = np.random.default_rng(3)
    slow, fast = drawn(random, 12, 0.3), drawn(random, 12, 0.0)
    assert percentiles(P99, (slow, fast)).finding is Finding.BETTER
    assert percentiles(P99, (fast, slow)).finding is Finding.WORSE


def test_a_ratio_of_times_is_above_nothing() -> None:
    random = np.random.default_rng(5)
    told = percentiles(P99, (drawn(random, 12, 0.3), drawn(random, 12, 0.0)))
    assert told.ratio_low is not None
    assert told.ratio_high is not None
    assert 0 < told.ratio_low <= told.b / told.a <= told.ratio_high < 1
    gain = Gain.of(told)
    assert gain is not None
    assert (gain.low, gain.high) == (told.ratio_low, told.ratio_high)
    goodput = Compared({}, 12, 1.0, 1.2, 0.2, -5.5, 6.7, Finding.UNKNOWN)
    assert Gain.of(goodput) == Gain(1.0, 1.2, 0.0, 7.7, 12)


def test_the_interval_holds_the_difference_in_95_of_a_hundred() -> None:
    random = np.random.default_rng(4)
    column, held = "completion_p95_s", 0
    many = [np.concatenate(drawn(random, 4000, late)) for late in (0.02, 0.2)]
    truth = float(np.diff([np.quantile(one, SHARES[column]) for one in many])[0])
    for _ in range(200):
        told = percentiles(column, (drawn(random, 8, 0.02), drawn(random, 8, 0.2)))
        assert told.low is not None
        assert told.high is not None
        held += told.low <= truth <= told.high
    assert held >= 190


@pytest.mark.parametrize(
    ("column", "better"),
    [("goodput_bps", True), ("fairness", True), ("link_utilization", True), ("timeouts", False)],
)
def test_more_is_better_of_some_and_less_of_others(column: str, better: bool) -> None:
    few, many = np.array([0.1, 0.11, 0.1, 0.12]), np.array([0.8, 0.81, 0.8, 0.82])
    told = paired(column, (few, many), ((0.0, 1.0), (0.0, 1.0)))
    assert told.finding is (Finding.BETTER if better else Finding.WORSE)
