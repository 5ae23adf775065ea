"""The folder of runs: killed at any moment, shared by processes, packed when it grows."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import SMALL, Command
from incast import _core
from incast.results import archive, files
from incast.results.archive import Archive
from incast.results.store import Directory

# Runs the scenario, and tells the key of every run as soon as `put` has returned, and of packs that
# they are there.
CHILD = """
import os, sys
import incast
from incast.results import archive
archive.PACK = int(sys.argv[3])
put = archive.Archive.put
def told(self, job, output):
    put(self, job, output)
    os.write(1, job.key.encode() + b"\\n")
archive.Archive.put = told
pack = archive.Archive._pack
def packed(self, parts):
    pack(self, parts)
    os.write(1, b"packed\\n")
archive.Archive._pack = packed
incast.run(sys.argv[1], out=sys.argv[2], jobs=2)
"""


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Return a scenario of 800 runs of a few milliseconds."""
    path = tmp_path / "many.toml"
    text = SMALL.replace("seeds = 2", "seeds = 200").replace("blocks = 2", "blocks = 8")
    path.write_text(text + '[sweep]\n"workload.servers" = [2, 4, 8, 16]\n')
    return path


@pytest.fixture
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "PACK", 7)


def child(scenario: Path, out: Path, pack: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, scenario, out, str(pack)],
        stdout=subprocess.PIPE,
        text=True,
    )


def packs(out: Path) -> list[Path]:
    return list((out / "runs").glob("pack-*.parquet"))


def parts(out: Path) -> list[Path]:
    return [file for file in (out / "runs").glob("*.parquet") if file not in packs(out)]


def rows(results: incast.Results) -> pl.DataFrame:
    return results.frame(group=None).drop("wall_s")


def test_a_kill_at_any_moment_loses_only_the_runs_in_progress(many: Path, tmp_path: Path) -> None:
    out, chance = tmp_path / "out", random.Random(5)
    told: set[str] = set()
    for number in range(10):
        with child(many, out, pack=7) as one, child(many, out, pack=7) as other:
            for process in (one, other):  # they disturb each other, too
                assert process.stdout is not None
                while number == 0 and told.isdisjoint({"packed", ""}):  # later kills find packs
                    told.add(process.stdout.readline().strip())
                for _ in range(chance.randrange(1, 16)):  # runs done, however slow the machine is
                    told.add(process.stdout.readline().strip())
                time.sleep(chance.uniform(0, 0.01))
                process.send_signal(signal.SIGKILL)
                told.update(line.strip() for line in process.stdout.read().splitlines())
        told -= {"", "packed"}  # the first of a process that had nothing left to do
        kept = Directory.open(out).rows(incast.load(many).plan.jobs())
        assert kept is not None
        assert told <= set(kept["run"])
        assert kept["run"].n_unique() == kept.height  # one group, so one row per run
    assert packs(out)
    finished = incast.run(many, out=out)
    assert rows(finished).equals(rows(incast.run(many)))
    assert not list(out.rglob("*.tmp"))


def test_two_processes_share_a_directory(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    processes = [child(many, out, pack=150) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert all(told)  # each of them did something
    assert len(told[0]) + len(told[1]) < 1.2 * 800  # and hardly anything was done twice
    assert rows(incast.open_results(out)).equals(rows(incast.run(many)))
    assert packs(out)
    assert not list(out.rglob("*.tmp"))


def test_packs_read_as_the_parts_did(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = incast.run(sweep, out=tmp_path / "parts").frame(None).drop("wall_s")
    monkeypatch.setattr(archive, "PACK", 3)
    packed = incast.run(sweep, out=tmp_path / "packs", traces=["events"], jobs=1)
    assert len(packs(tmp_path / "packs")) == 2
    assert not parts(tmp_path / "packs")
    assert packed.frame(None).drop("wall_s").equals(plain)
    assert incast.open_results(tmp_path / "packs").summary().equals(packed.summary())
    assert packed.traces.of("events", next(packed.plan.jobs())).height > 0
    before = [file.stat().st_mtime_ns for file in packs(tmp_path / "packs")]
    incast.run(sweep, out=tmp_path / "packs", traces=["events"])  # nothing is run again
    assert [file.stat().st_mtime_ns for file in packs(tmp_path / "packs")] == before
    assert pl.read_parquet(tmp_path / "packs" / "runs").height == 6


@pytest.mark.usefixtures("small_packs")
def test_parts_that_outlive_their_pack_do_not_count_twice(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, out = incast.load(sweep).override("run.seeds", 3), tmp_path / "out"

    def killed(self: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)  # after the pack has its name, before parts go
        with pytest.raises(incast.Interrupted):
            incast.run(scenario, out=out, jobs=1)
    assert len(packs(out)) == 1
    assert len(parts(out)) == 7
    results = incast.run(scenario, out=out)
    assert rows(results).equals(rows(incast.run(scenario)))


def test_what_others_put_meanwhile_is_not_run_again(sweep: Path, tmp_path: Path) -> None:
    scenario = incast.load(sweep)
    first, second = (Directory.create(tmp_path / "out", scenario, []) for _ in range(2))
    job = next(scenario.plan.jobs())
    assert not second.has(job)
    first.put(job, _core.run(json.dumps(job.point.resolved), job.seed))
    assert second.has(job)


def test_half_written_files_of_the_dead_are_removed_and_those_of_the_living_kept(
    small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    incast.run(small, out=out)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = files._host()
    dead, alive, elsewhere = (
        out / "runs" / f"key.{host}.{process}.tmp"
        for host, process in ((here, gone.pid), (here, os.getpid()), ("elsewhere", gone.pid))
    )
    for file in (dead, alive, elsewhere):
        file.write_text("half")
    incast.run(small, out=out)
    assert [file.exists() for file in (dead, alive, elsewhere)] == [False, True, True]


def test_a_damaged_part_is_named(command: Command, small: Path, tmp_path: Path) -> None:
    incast.run(small, out=tmp_path / "out")
    part = parts(tmp_path / "out")[0]
    part.write_bytes(b"PAR1")
    outcome = command("run", small, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err == f"incast: {part}: damaged; remove it and run again\n"


def test_an_archive_holds_the_runs_of_any_scenario(
    small: Path, sweep: Path, tmp_path: Path
) -> None:
    from incast.sweep.execute import run_jobs

    plans = [incast.load(path).plan for path in (small, sweep)]
    store = Archive(tmp_path / "out")
    store.prepare([])
    run_jobs([job for plan in plans for job in plan.jobs()], store)
    for path, plan in zip((small, sweep), plans, strict=True):
        kept = incast.Results(plan, store).summary().select("goodput_bps")
        assert kept.equals(incast.run(path).summary().select("goodput_bps"))


def test_a_dry_run_tells_and_does_nothing(command: Command, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told = command("run", sweep, "--dry-run", "--out", out)
    assert told.code == 0
    assert told.out.startswith(
        f"6 runs: 3 points, 2 seeds\n0 of them in {out} already\n6 to do, about "
    )
    assert not out.exists()
    incast.run(sweep, out=out)
    assert command("run", sweep, "--dry-run", "--out", out, "--seeds", "3").out.splitlines()[
        1:
    ] == [
        f"6 of them in {out} already",
        f"3 to do, about 1 s on {min(len(os.sched_getaffinity(0)), 3)} processors",
    ]
    assert command("run", sweep, "--dry-run", "--out", out).out.endswith("\n0 to do\n")


def test_the_expected_work_is_that_of_the_blocks_or_of_the_time(small: Path) -> None:
    from incast.sweep.work import packets

    def of(**changes: object) -> float:
        scenario = incast.load(small)
        for key, value in changes.items():
            scenario = scenario.override(f"workload.{key}", value)
        return packets(scenario.plan.points[0].resolved)

    assert of() == 4 * 12 * 2
    assert of(blocks=4) == 2 * of()
    document = incast.load(small).document
    del document["workload"]["blocks"]
    document["workload"]["duration"] = "3s"
    assert packets(incast.load(document).plan.points[0].resolved) == 1e9 * 3 / 8 / 1500
