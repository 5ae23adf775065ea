"""The Python interface: load a scenario, run it, read the results."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import document


def test_a_dictionary_runs_and_gives_one_row_per_point_and_seed() -> None:
    results = incast.run(document(sweep={"workload.servers": [2, 4]}, run={"seeds": [3, 5]}))
    frame = results.frame()
    assert frame["workload.servers"].to_list() == [2, 2, 4, 4]
    assert frame["seed"].to_list() == [3, 5, 3, 5]
    assert frame["status"].unique().to_list() == ["ok"]
    assert frame["group"].unique().to_list() == ["all"]


def test_a_file_and_the_dictionary_of_it_give_the_same_rows(small: Path) -> None:
    from_file = incast.run(small).frame().drop("wall_s")
    assert from_file.equals(incast.run(document()).frame().drop("wall_s"))


def test_goodput_stays_below_the_line_rate_and_bytes_are_those_asked_for() -> None:
    frame = incast.run(document()).frame()
    assert (frame["goodput_bps"] < 1e9).all()
    assert (frame["bytes"] == 4 * 16 * 1024 * 2).all()
    assert (frame["blocks"] == 2).all()


def test_the_causes_sum_to_the_timeouts() -> None:
    frame = incast.run(document(workload={"servers": 32, "blocks": 4})).frame()
    assert frame["timeouts"].sum() > 0
    parts = {"timeouts_tail", "timeouts_block_head"}  # these are parts of other columns
    causes = [name for name in frame.columns if name.startswith("timeouts_") and name not in parts]
    assert len(causes) == 6
    assert (frame.select(pl.sum_horizontal(causes)).to_series() == frame["timeouts"]).all()


def test_swept_values_of_several_types_become_text() -> None:
    results = incast.run(document(sweep={"network.buffer": ["20pkt", 32768]}))
    assert results.frame()["network.buffer"].unique(maintain_order=True).to_list() == [
        "20pkt",
        "32768",
    ]


def test_a_zipped_sweep_pairs_its_values() -> None:
    pairs = {"zip": [{"workload.servers": [2, 4], "workload.sru": ["8KiB", "4KiB"]}]}
    frame = incast.run(document(sweep=pairs, run={"seeds": 1})).frame()
    assert frame.select("workload.servers", "workload.sru").rows() == [(2, "8KiB"), (4, "4KiB")]


def test_overrides_leave_the_original_alone() -> None:
    scenario = incast.load(document())
    changed = scenario.override("workload.servers", 7)
    assert scenario.document["workload"]["servers"] == 4
    assert changed.plan.points[0].resolved["workload"]["servers"] == 7


def test_the_scenario_that_the_core_resolved_resolves_to_itself() -> None:
    resolved = incast.load(document()).plan.points[0].resolved
    assert incast.load(resolved).plan.points[0].resolved == resolved


def test_background_traffic_has_rows_of_its_own_which_totals_leave_out() -> None:
    tree = document()
    tree["background"] = [{"name": "cbr", "rate": "10Mbps"}]
    results = incast.run(tree)
    assert results.frame()["group"].unique().to_list() == ["all"]
    groups = results.frame(group=None)["group"].unique(maintain_order=True).to_list()
    assert groups == ["all", "background.0.cbr"]


def test_a_run_that_does_not_finish_is_in_no_mean() -> None:
    hopeless = document(run={"time_limit": "1ms"}, workload={"servers": 32, "blocks": 50})
    results = incast.run(hopeless)
    assert results.frame()["status"].unique().to_list() == ["time-limit"]
    summary = results.summary()
    assert summary["ok"].to_list() == [0]
    assert summary["status"].to_list() == ["2 of 2 time-limit"]
    assert summary["goodput_bps"].to_list() == [None]


def test_attributes_are_listed_and_unknown_ones_refused() -> None:
    assert {"load", "run", "Results"} <= set(dir(incast))
    assert incast.__version__
    with pytest.raises(AttributeError, match="nonsense"):
        _ = incast.nonsense


@pytest.mark.parametrize("what", ["import incast", "from incast.cli import app"])
def test_heavy_packages_are_imported_when_used(what: str) -> None:
    script = f"{what}; import sys; print(*{{'scipy', 'matplotlib', 'polars'}} & {{*sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_help_imports_no_heavy_package() -> None:
    script = (
        "import sys, atexit; sys.argv = ['incast', '--help']\n"
        "atexit.register(lambda: print({'scipy', 'matplotlib', 'polars'} & {*sys.modules}))\n"
        "from incast.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Usage: incast" in done.stdout
    assert done.stdout.splitlines()[-1] == "set()"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"traces": ["foo"]}, "trace: there is no trace 'foo'; choose from queue, cwnd, events"),
        ({"traces": "queue,foo"}, "trace: there is no trace 'foo'"),
        ({"jobs": 0}, "jobs: must be a whole number of at least 1, not 0"),
        ({"jobs": -5}, "jobs: must be a whole number of at least 1, not -5"),
        ({"jobs": 1.5}, r"jobs: must be a whole number of at least 1, not 1\.5"),
    ],
)
def test_what_cannot_be_asked_for_is_one_line(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(incast.ResultsError, match=f"^{said}"):
        incast.run(document(), **arguments)  # type: ignore[arg-type]


def test_a_group_that_is_not_there_is_no_empty_frame() -> None:
    results = incast.run(document(run={"seeds": 1}))
    for ask in (results.frame, results.summary):
        with pytest.raises(incast.ResultsError, match="no group 'mice'; choose from all"):
            ask(group="mice")
    with pytest.raises(incast.ResultsError, match="there is no trace 'foo'"):
        results.traces.of("foo", next(results.plan.jobs()))


def test_results_show_their_table_and_sentence_in_a_notebook() -> None:
    tree = document(sweep={"workload.servers": [2, 32]}) | {"title": "<b>&"}
    results = incast.run(tree)
    page = results._repr_html_()
    assert "&lt;b&gt;&amp;" in page
    assert page.count("<tr>") == 3
    assert "Collapses between 2 and 32 servers" in page
    goodput = results.summary()["goodput_bps"][0] / 1e6
    assert f"{goodput:.3g}" in page
    overview = results.overview()
    assert overview.columns[:2] == ["workload.servers", "goodput_bps"]
    assert len(overview.columns) < 16
    assert set(overview.columns) <= set(results.summary().columns)
