"""Sweeps: the same rows whatever the number of threads, progress, Ctrl-C."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import SMALL, Command, document
from incast.scenario.plan import Job
from incast.sweep.progress import Estimate, Progress


def test_rows_do_not_depend_on_the_number_of_threads(sweep: Path) -> None:
    one, two, again = (incast.run(sweep, jobs=jobs) for jobs in (1, 2, 2))
    rows = one.frame(group=None).drop("wall_s")
    assert rows.equals(two.frame(group=None).drop("wall_s"))
    assert rows.equals(again.frame(group=None).drop("wall_s"))


def test_traces_do_not_depend_on_the_number_of_threads(sweep: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        incast.run(sweep, jobs=jobs, out=tmp_path / str(jobs), traces=["queue", "cwnd", "events"])
    for table in ("queues", "flows", "events"):
        for file in (tmp_path / "1" / table).iterdir():
            assert file.read_bytes() == (tmp_path / "2" / table / file.name).read_bytes()


def test_tracing_changes_no_row(sweep: Path) -> None:
    plain = incast.run(sweep).frame().drop("wall_s")
    traced = incast.run(sweep, traces=["queue:full", "cwnd:full", "events"]).frame()
    assert plain.equals(traced.drop("wall_s"))


def test_progress_ends_with_everything_done(sweep: Path) -> None:
    seen: list[Progress] = []
    incast.run(sweep, progress=seen.append)
    assert (seen[-1].done, seen[-1].total, seen[-1].share) == (6, 6, 1.0)
    assert seen[-1].remaining == 0


def test_the_estimate_goes_by_what_the_other_seeds_of_a_point_took() -> None:
    slow, quick = incast.load(document(sweep={"workload.servers": [4, 8]})).plan.points
    first, second, third = (Job(0, slow, seed, "") for seed in (1, 2, 3))
    other = Job(1, quick, 1, "")
    estimate = Estimate(2, [first, second, third, other], kept=1)
    assert estimate.progress().remaining is None
    estimate.finished(first, 8.0)
    state = estimate.progress({second.key: 0.5})
    assert state.remaining == pytest.approx((8 * 0.5 + 8 + 16) / 2)  # the other: twice the packets
    estimate.finished(second, None)  # somebody else did it
    estimate.finished(other, 2.0)
    state = estimate.progress()
    assert state.remaining == pytest.approx(8 / 2)
    assert state.share == pytest.approx(10 / 18)
    assert (state.done, state.total) == (4, 5)


def test_an_interrupt_keeps_what_finished(sweep: Path, tmp_path: Path) -> None:
    def interrupt(state: Progress) -> None:
        if state.done:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    long = incast.load(sweep).override("run.seeds", 200)  # 600 runs
    with pytest.raises(incast.Interrupted) as stopped:
        incast.run(long, jobs=1, out=out, progress=interrupt)
    kept = stopped.value.results.frame().height
    assert 0 < kept < stopped.value.total == 600
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert len(list((out / "runs").glob("*.parquet"))) == kept
    assert pl.read_parquet(out / "runs").height == kept


def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(tmp_path: Path, command: Command) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(SMALL.replace("blocks = 2", "blocks = 400").replace("seeds = 2", "seeds = 500"))
    process = subprocess.Popen(
        [sys.executable, "-m", "incast", "run", path, "--out", out],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(out.glob("runs/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.count("\n") == 1
    assert "of 500 runs are kept" in err
    assert "run the same command again to go on" in err
    assert not list(out.rglob("*.tmp"))
    kept = {file: file.stat().st_mtime_ns for file in out.glob("runs/*.parquet")}
    assert 0 < len(kept) < 500
    assert command("run", path, "--out", out, "--seeds", max(2, len(kept) // 2)).code == 0
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_without_a_terminal_nothing_but_results_is_printed(command: Command, sweep: Path) -> None:
    assert command("run", sweep).err == ""
