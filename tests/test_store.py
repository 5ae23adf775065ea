"""The results directory: nothing is computed twice, no file is incomplete."""

import json
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import Command

Times = dict[str, int]


def times(out: Path, table: str = "runs") -> Times:
    return {file.name: file.stat().st_mtime_ns for file in (out / table).iterdir()}


def test_what_is_there_is_not_run_again(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = incast.run(sweep, out=out).frame()
    before = times(out)
    assert incast.run(sweep, out=out).frame().equals(first)  # wall_s included
    assert times(out) == before


def test_only_what_is_missing_is_run(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = incast.run(sweep, out=out).frame().drop("wall_s")
    gone = sorted((out / "runs").iterdir())[0]
    gone.unlink()
    before = times(out)
    assert incast.run(sweep, out=out).frame().drop("wall_s").equals(first)
    assert {name: times(out)[name] for name in before} == before
    assert gone.exists()


def test_seeds_can_be_added_and_stay(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    scenario = incast.load(sweep)
    incast.run(scenario, out=out)
    before = times(out)
    more = incast.run(scenario.override("run.seeds", [4]), out=out)
    assert more.frame()["seed"].unique().to_list() == [4]
    assert {name: times(out)[name] for name in before} == before
    assert sorted(incast.open_results(out).frame()["seed"].unique()) == [1, 2, 4]


def test_the_title_does_not_make_another_scenario(sweep: Path, tmp_path: Path) -> None:
    scenario = incast.load(sweep)
    incast.run(scenario, out=tmp_path / "out")
    before = times(tmp_path / "out")
    incast.run(scenario.override("title", "Renamed"), out=tmp_path / "out")
    assert times(tmp_path / "out") == before


def test_a_trace_asked_for_later_is_recorded(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    rows = incast.run(small, out=out).frame().drop("wall_s")
    results = incast.run(small, out=out, traces=["queue", "events"])
    assert results.frame().drop("wall_s").equals(rows)
    assert times(out, "queues").keys() == times(out, "events").keys()
    assert len(times(out, "queues")) == 2
    assert len(times(out)) == 1
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["traces"] == ["events", "queue"]


def test_binned_and_full_traces_are_not_mixed(small: Path, tmp_path: Path) -> None:
    incast.run(small, out=tmp_path / "out", traces=["queue"])
    with pytest.raises(incast.ResultsError, match="queue"):
        incast.run(small, out=tmp_path / "out", traces=["queue:full"])


def test_two_runs_leave_the_same_bytes(command: Command, sweep: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        out = tmp_path / name
        incast.run(sweep, out=out, jobs=1, traces=["queue", "cwnd", "events"])
        for form in ("csv", "parquet"):
            assert command("run", sweep, "--out", out, "--format", form).code == 0
    files = sorted(file for file in (tmp_path / "one").rglob("*.*") if file.parent.name != "times")
    assert len(files) == 3 * 6 + 1 + 2 + 1
    for file in files:
        if file.name != "manifest.json":
            other = tmp_path / "two" / file.relative_to(tmp_path / "one")
            assert file.read_bytes() == other.read_bytes()
    for form in ("csv", "json"):
        assert command("run", sweep, "--format", form).out == (
            command("run", sweep, "--format", form).out
        )


def test_times_stand_beside_the_rows_and_are_joined(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = incast.run(sweep, out=out)
    assert "wall_s" not in pl.read_parquet(out / "runs").columns
    rows = results.frame(group=None)
    assert rows["wall_s"].min() > 0
    assert rows["wall_s"].null_count() == 0
    assert (results.summary()["wall_s"] > 0).all()
    told = pl.concat(pl.read_csv(file) for file in out.glob("times/*.csv"))
    assert sorted(told["wall_s"]) == sorted(rows["wall_s"])
    assert (incast.run(sweep).frame()["wall_s"] > 0).all()  # results in memory have times, too


def test_the_folder_reads_as_one_table(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    results = incast.run(sweep, out=out, traces=["queue", "cwnd", "events"])
    assert pl.read_parquet(out / "runs").height == results.frame(group=None).height == 6
    for table in ("queues", "flows", "events"):
        frame = pl.read_parquet(out / table)
        assert frame.columns[:2] == ["workload.servers", "seed"]
        assert sorted(frame["workload.servers"].unique()) == [2, 8, 32]
    assert not list(out.rglob("*.tmp"))


def test_every_column_has_a_unit_and_a_meaning(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    incast.run(sweep, out=out, traces=["queue", "cwnd", "events"])
    columns = json.loads((out / "manifest.json").read_text())["columns"]
    for table, told in columns.items():
        known = {column["name"] for column in told}
        assert all(column["description"] for column in told)
        read = pl.read_csv if table == "times" else pl.read_parquet
        (file, *_) = (out / table).iterdir()
        assert set(read(file).columns) - known <= {"workload.servers", "seed"}


def test_the_manifest_says_what_was_run(sweep: Path, tmp_path: Path) -> None:
    incast.run(sweep, out=tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["scenario"] == incast.load(sweep).document
    assert manifest["plan"]["seeds"] == [1, 2]
    assert manifest["engine"] == incast.load(sweep).plan.engine


def test_results_of_another_engine_are_not_mixed_with_ours(sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    incast.run(sweep, out=out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["engine"] = "0.0.0"
    (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(incast.ResultsError, match=r"engine 0\.0\.0"):
        incast.run(sweep, out=out)


@pytest.mark.parametrize("key", ["traces", "plan.points.0.resolved.x"])
def test_a_manifest_with_lists_in_lists_is_refused(sweep: Path, tmp_path: Path, key: str) -> None:
    """Lists may be nested too deeply to read; the limit depends on the depth of the call stack."""
    for depth in range(700, 1000):
        changed(sweep, tmp_path, key, "DEEP", '"DEEP"', "[" * depth + "]" * depth)


@pytest.mark.parametrize("key", ["format", "scenario.title", "plan.points.0.resolved.profile"])
def test_a_manifest_with_half_a_letter_is_refused(sweep: Path, tmp_path: Path, key: str) -> None:
    changed(sweep, tmp_path, key, "\ud800")
    changed(sweep, tmp_path, "format", "a\n" * 5000)


def changed(sweep: Path, folder: Path, key: str, value: object, *text: str) -> None:
    """Change a manifest, and check that it is refused in one line."""
    out = folder / "out"
    if not out.exists():
        incast.run(sweep, out=out)
    file = out / "manifest.json"
    manifest = json.loads(file.read_text())
    place = manifest
    *tables, last = [int(part) if part.isdigit() else part for part in key.split(".")]
    for table in tables:
        place = place[table]
    place[last] = value
    told = json.dumps(manifest)
    before = file.read_text()
    file.write_text(told.replace(*text) if text else told)
    with pytest.raises(incast.ResultsError) as refusal:
        incast.open_results(out)
    assert str(refusal.value).startswith(f"{file}: ")
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 300
    file.write_text(before)


def test_results_can_be_read_back(sweep: Path, tmp_path: Path) -> None:
    results = incast.run(sweep, out=tmp_path / "out")
    again = incast.open_results(tmp_path / "out")
    assert again.frame().equals(results.frame())
    assert again.summary().equals(results.summary())
    assert "6 of 6" in repr(again)
