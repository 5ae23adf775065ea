"""The percentiles of several seeds are the percentiles of the blocks of all seeds together."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incast
from conftest import Command, document
from incast.results.frames import COMPLETIONS
from incast.results.pooled import PERCENTILES, pool

TIMES = st.floats(1e-6, 10, allow_subnormal=False)


def rows(*seeds: list[float], point: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {"point": point, "status": "ok", "blocks": len(blocks), COMPLETIONS: blocks}
            for blocks in seeds
        ],
        schema_overrides={COMPLETIONS: pl.List(pl.Float64)},
    )


@settings(deadline=None)  # the first example is slow, because it imports SciPy
@given(st.lists(st.lists(TIMES, min_size=1, max_size=30), min_size=1, max_size=8))
def test_percentiles_are_those_of_the_blocks_together(seeds: list[list[float]]) -> None:
    (told,) = pool(rows(*seeds)).to_dicts()
    everything = np.concatenate(seeds)
    for name, share in PERCENTILES.items():
        # The rule for rows: the index of the value is share x count, rounded down.
        level = min(int(len(everything) * share), len(everything) - 1)
        expected = np.sort(everything)[level]
        assert told[name] == expected
        higher = np.quantile(everything, share, method="inverted_cdf")
        assert told[name] >= higher
        low, high = told[f"{name}_ci95_low"], told[f"{name}_ci95_high"]
        if len(seeds) == 1:
            assert (low, high) == (None, None)
        else:
            assert everything.min() <= low <= told[name] <= high <= everything.max()
    assert told["completion_max_s"] == everything.max()


def test_a_summary_pools_what_a_row_has_of_its_own_run() -> None:
    tree = document(workload={"servers": 24, "blocks": 7}, run={"seeds": 3})
    results = incast.run(tree | {"sweep": {"workload.servers": [2, 24]}})
    blocks = results.blocks()
    frame, summary = results.frame(), results.summary()
    assert blocks.height == frame["blocks"].sum()
    assert COMPLETIONS not in frame.columns
    for row in frame.to_dicts():
        where = {key: row[key] for key in ("workload.servers", "seed")}
        mine = blocks.filter(**where)["completion_s"].sort().to_list()
        assert row["completion_max_s"] == mine[-1]
        assert row["completion_p50_s"] == mine[3]
        assert row["completion_p50_s"] <= row["completion_p999_s"] <= row["completion_max_s"]
    for row in summary.to_dicts():
        mine = blocks.filter(**{"workload.servers": row["workload.servers"]})["completion_s"]
        assert row["completion_p50_s"] == mine.sort()[int(len(mine) / 2)]
        assert row["completion_max_s"] == mine.max()


def test_seeds_with_and_without_a_wait_have_no_percentile_between(tmp_path: Path) -> None:
    """With 8 servers, about half of the seeds have a block that waits 200 ms for a timeout."""
    tree: dict[str, Any] = document(
        network={"buffer": "100KiB"},
        workload={"servers": 8, "sru": "64KiB", "blocks": 20, "connections": "persistent"},
        transport={"rto_min": "200ms", "receive_window": "32KiB", "send_jitter": "8us"},
        run={"seeds": 10},
    )
    tree["workload"]["request_jitter"] = "20us"
    results = incast.run(tree, out=tmp_path / "out")
    own = results.frame()["completion_p99_s"]
    assert own.min() < 0.1 < own.max()  # type: ignore[operator]
    pooled = results.summary()["completion_p99_s"][0]
    assert pooled > 0.2
    again = incast.open_results(tmp_path / "out")
    assert again.summary().equals(results.summary())
    assert again.blocks().equals(results.blocks())
    assert not again.notes


def test_results_without_blocks_open_and_say_so(
    sweep: Path, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "out"
    results = incast.run(sweep, out=out)
    for part in (out / "runs").glob("*.parquet"):
        pl.read_parquet(part).drop(
            COMPLETIONS, "completion_p999_s", "completion_max_s"
        ).write_parquet(part)
    old = incast.open_results(out)
    mean = (
        results.frame()
        .group_by("workload.servers", maintain_order=True)
        .agg(pl.col("completion_p99_s").mean())
    )
    assert old.summary()["completion_p99_s"].to_list() == pytest.approx(
        mean["completion_p99_s"].to_list()
    )
    (note,) = old.notes
    assert note == (
        "Percentiles are means over the seeds: the version of incast that wrote these results "
        "did not store blocks."
    )
    with pytest.raises(incast.ResultsError, match="did not store blocks"):
        old.blocks()
    picture = tmp_path / "picture.png"
    assert command("plot", out, "-o", picture).code == 0


def test_thousands_of_points_are_pooled_at_once() -> None:
    random, count = np.random.default_rng(1), 2000
    blocks = random.exponential(size=(10 * count, 20)).tolist()
    frame = pl.DataFrame({"point": np.repeat(np.arange(count), 10), COMPLETIONS: blocks})
    start = time.process_time()
    told = pool(frame.with_columns(status=pl.lit("ok"), blocks=pl.lit(20)))
    assert time.process_time() - start < 3
    assert told.height == count
