"""The folder of stored runs: killed processes, several processes at once, and packs of runs."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import incast
from conftest import SMALL, Command
from incast import _core
from incast.results import archive, files
from incast.results.archive import Archive
from incast.results.frames import Run
from incast.results.store import Directory
from incast.scenario.plan import Job

# Runs the scenario. Prints the key of every run as soon as `put` has returned, and "packed" as soon
# as a pack is complete.
CHILD = """
import os, sys
import incast
from incast.results import archive
from incast.sweep import execute
archive.PACK = int(sys.argv[3])
execute._TICK = 0.01
put = archive.Archive.put
def told(self, runs):
    put(self, runs)
    for run in runs:
        os.write(1, run.job.key.encode() + b"\\n")
archive.Archive.put = told
join = archive.Archive._join
def packed(self, *others):
    join(self, *others)
    os.write(1, b"packed\\n")
archive.Archive._join = packed
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


def child(scenario: Path, out: Path, pack: int, *together: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, scenario, out, str(pack), *together],
        stdout=subprocess.PIPE,
        text=True,
    )


def packs(out: Path) -> list[Path]:
    return list((out / "runs").glob("pack-*.parquet"))


def rows(results: incast.Results) -> pl.DataFrame:
    return results.frame(group=None).drop("wall_s")


def test_a_kill_at_any_moment_loses_only_the_runs_in_progress(many: Path, tmp_path: Path) -> None:
    out, chance = tmp_path / "out", random.Random(5)
    told: set[str] = set()
    for number in range(10):
        with child(many, out, pack=7) as one, child(many, out, pack=7) as other:
            for process in (one, other):  # both processes write to the same folder
                assert process.stdout is not None
                while number == 0 and told.isdisjoint({"packed", ""}):  # later kills find packs
                    told.add(process.stdout.readline().strip())
                for _ in range(chance.randrange(1, 16)):  # kill after this number of finished runs
                    told.add(process.stdout.readline().strip())
                time.sleep(chance.uniform(0, 0.01))
                process.send_signal(signal.SIGKILL)
                told.update(line.strip() for line in process.stdout.read().splitlines())
        told -= {"", "packed"}  # an empty line is from a process that had nothing left to do
        kept = Directory.open(out).rows(incast.load(many).plan.jobs())
        assert kept is not None
        assert told <= set(kept["run"])
        assert kept["run"].n_unique() == kept.height  # the scenario has one group: one row per run
    assert packs(out)
    finished = incast.run(many, out=out)
    assert rows(finished).equals(rows(incast.run(many)))
    assert not list(out.rglob("*.tmp"))


def test_two_processes_share_a_directory(many: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    many.write_text(many.read_text().replace("blocks = 8", "blocks = 40"))
    processes = [child(many, out, 150, "2") for _ in range(2)]
    told = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert all(told)  # each process finished some runs
    assert len(told[0]) + len(told[1]) < 2 * 800  # and did not repeat all runs of the other
    assert rows(incast.open_results(out)).equals(rows(incast.run(many)))
    assert packs(out)
    assert not list(out.rglob("*.tmp"))


def contents(out: Path) -> dict[str, bytes]:
    return {pack.name: pack.read_bytes() for pack in (out / "runs").iterdir()}


def incast_run(scenario: incast.Scenario, out: Path) -> Path:
    incast.run(scenario, out=out, jobs=1)
    return out


def height(pack: Path) -> int:
    return pl.read_parquet(pack)["run"].n_unique()


def batches(jobs: list[Job], size: int) -> list[list[Run]]:
    runs = [Run(job, _core.run(job.point.scenario, job.seed)) for job in jobs]
    return [runs[start : start + size] for start in range(0, len(runs), size)]


@pytest.mark.usefixtures("small_packs")
def test_batches_become_packs_in_the_order_of_the_plan(sweep: Path, tmp_path: Path) -> None:
    scenario = incast.load(sweep).override("run.seeds", 6)
    jobs = list(scenario.plan.jobs())
    left = []
    for size, order in ((1, jobs), (5, jobs[::-1]), (18, jobs)):
        store = Archive(tmp_path / f"{size}")
        store.prepare([])
        store.expect(jobs)
        for batch in batches(order, size):
            store.put(batch)
        left.append({pack.name: pack.read_bytes() for pack in packs(store.path)})
    assert left[0] == left[1] == left[2]
    assert sorted(map(height, packs(tmp_path / "1"))) == [4, 7, 7]
    kept = [pl.read_parquet(pack)["run"].to_list() for pack in packs(tmp_path / "1")]
    keys = [job.key for job in jobs]
    assert sorted(kept, key=lambda pack: keys.index(pack[0])) == [keys[:7], keys[7:14], keys[14:]]


@pytest.mark.usefixtures("small_packs")
def test_a_chunk_is_complete_also_if_others_put_a_part_of_it(sweep: Path, tmp_path: Path) -> None:
    jobs = list(incast.load(sweep).override("run.seeds", 3).plan.jobs())
    store, other = Archive(tmp_path / "out"), Archive(tmp_path / "out")
    for one in (store, other):
        one.prepare([])
        one.expect(jobs)
    other.put(batches(jobs[3:5], 2)[0])
    for batch in batches([*jobs[:3], *jobs[5:]], 1):
        store.put(batch)
    # 5 packs of one run each, a pack of the other archive's 2 runs, and a pack of the last 2 runs.
    assert len(packs(tmp_path / "out")) == 7 - 2 + 1 + 1
    store.pass_over(jobs[3:5])
    assert sorted(map(height, packs(tmp_path / "out"))) == [2, 2, 5]
    found = Archive(tmp_path / "out").rows(jobs)
    assert found is not None
    assert found["run"].n_unique() == found.height == 9


def test_packs_read_as_memory_does(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = rows(incast.run(sweep))
    monkeypatch.setattr(archive, "PACK", 3)
    packed = incast.run(sweep, out=tmp_path / "packs", traces=["events"], jobs=1)
    assert len(packs(tmp_path / "packs")) == 2
    assert rows(packed).equals(plain)
    assert incast.open_results(tmp_path / "packs").summary().equals(packed.summary())
    assert packed.traces.of("events", next(packed.plan.jobs())).height > 0
    before = [file.stat().st_mtime_ns for file in packs(tmp_path / "packs")]
    incast.run(sweep, out=tmp_path / "packs", traces=["events"])  # nothing is run again
    assert [file.stat().st_mtime_ns for file in packs(tmp_path / "packs")] == before
    assert pl.read_parquet(tmp_path / "packs" / "runs").height == 6


def test_packs_that_outlive_the_one_that_replaces_them_do_not_count_twice(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, out = incast.load(sweep), tmp_path / "out"
    jobs = list(scenario.plan.jobs())
    store = Directory.create(out, scenario, [])
    store.expect(jobs)

    def killed(self: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        # Killed after the pack has its name, before the packs that it replaces are removed.
        patch.setattr(Path, "unlink", killed)
        *first, last = batches(jobs, 1)
        for batch in first:
            store.put(batch)
        with pytest.raises(KeyboardInterrupt):
            store.put(last)
    assert sorted(map(height, packs(out))) == [1] * 5 + [6]
    results = incast.run(scenario, out=out)
    assert rows(results).equals(rows(incast.run(scenario)))


def test_small_packs_that_were_left_are_joined_in_the_order_of_the_plan(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PACK", 7)
    scenario, out = incast.load(sweep).override("run.seeds", 6), tmp_path / "out"
    jobs = list(scenario.plan.jobs())
    store = Directory.create(out, scenario, [])
    for batch in batches(jobs[:-1], 1):  # without `expect`, so they are not joined
        store.put(batch)
    assert len(packs(out)) == 17
    Directory.create(out, scenario, []).expect(jobs)  # too few small packs to join them
    assert len(packs(out)) == 17
    monkeypatch.setattr(archive, "_MANY", 4)
    Directory.create(out, scenario, []).expect(jobs)
    assert sorted(map(height, packs(out))) == [1, 1, 1, 7, 7]
    incast.run(scenario, out=out)
    assert contents(out) == contents(incast_run(scenario, tmp_path / "once"))


def test_an_interrupted_sweep_leaves_the_bytes_of_one_that_was_not(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PACK", 7)
    scenario, out = incast.load(sweep).override("run.seeds", 6), tmp_path / "out"
    jobs = list(scenario.plan.jobs())
    for some in (jobs[3:5], jobs[6:13], jobs[15:16]):
        store = Directory.create(out, scenario, [])
        store.expect(jobs)
        store.put(batches(some, len(some))[0])
    assert len(packs(out)) == 4  # the second batch belongs to two chunks, so it is two packs
    incast.run(scenario, out=out, jobs=2)
    assert contents(out) == contents(incast_run(scenario, tmp_path / "once"))


def test_what_others_put_meanwhile_is_not_run_again(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_STALE", 0.0)
    scenario = incast.load(sweep)
    first, second = (Directory.create(tmp_path / "out", scenario, []) for _ in range(2))
    job = next(scenario.plan.jobs())
    assert not second.has(job)
    first.put([Run(job, _core.run(job.point.scenario, job.seed))])
    assert second.has(job)


# Writes a file, but waits before the temporary file gets its final name.
WRITER = """
import sys
from pathlib import Path
from incast.results import files
replace = Path.replace
def wait(self, target):
    print("half", flush=True)
    sys.stdin.readline()
    return replace(self, target)
Path.replace = wait
files.write_whole(Path(sys.argv[1]), b"whole")
"""


def writer(file: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, file],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    return process


def test_half_written_files_of_the_dead_are_removed_and_those_of_the_living_kept(
    small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    incast.run(small, out=out)
    elsewhere = out / "runs" / "key.another-machine.0123456789abcdef.tmp"
    elsewhere.write_text("half")
    with writer(out / "runs" / "dead") as dead, writer(out / "runs" / "living") as living:
        dead.kill()
        dead.wait()
        assert len(list(out.rglob("*.tmp"))) == 3
        incast.run(small, out=out)
        left = {file.name.split(".")[0] for file in out.rglob("*.tmp")}
        assert left == {"key", "living"}  # another machine may still be writing "key"
        living.communicate("\n")
        assert living.returncode == 0
    assert (out / "runs" / "living").read_bytes() == b"whole"


def test_who_sweeps_up_before_a_writer_has_its_lock_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, swept = Path.open, []

    def and_swept(self: Path, mode: str = "r") -> object:
        handle = opened(self, mode)
        if mode == "xb" and len(swept) < 3:
            swept.append(self)
            with monkeypatch.context() as patch:
                patch.setattr(Path, "open", opened)
                files.sweep_up(self.parent)
        return handle

    monkeypatch.setattr(Path, "open", and_swept)
    files.write_whole(tmp_path / "file", b"whole")
    assert (tmp_path / "file").read_bytes() == b"whole"
    assert len(set(swept)) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_pack_is_on_the_disk_before_it_has_its_name_and_others_go_after(
    sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def told(what: str, call: Callable[..., object]) -> Callable[..., object]:
        def tell(one: Path | int, *others: object, **options: object) -> object:
            name = one.name.split(".")[0] if isinstance(one, Path) else ""
            done.append(f"{what} {name}".strip())
            return call(one, *others, **options)

        return tell

    scenario = incast.load(sweep)
    jobs = list(scenario.plan.jobs())
    store = Directory.create(tmp_path / "out", scenario, [])
    store.expect(jobs)
    *first, last = batches(jobs, 1)
    for batch in first:
        store.put(batch)
    small = {pack.stem for pack in packs(tmp_path / "out")}
    for owner, name in ((os, "fsync"), (Path, "replace"), (Path, "unlink")):
        monkeypatch.setattr(owner, name, told(name, getattr(owner, name)))
    store.put(last)
    (pack,) = packs(tmp_path / "out")
    synced = done.index("fsync")
    assert done[synced + 1] == f"replace {pack.stem}"
    assert set(done[synced + 2 :]) == {f"unlink {stem}" for stem in small}
    assert len(small) == 5


def test_the_rows_of_a_run_come_after_its_traces(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, written = tmp_path / "out", []
    whole = files.write_whole

    def told(file: Path, content: bytes, **options: bool) -> None:
        if file.suffix == ".parquet":
            written.append(file.parent.name)
            if len(written) == 3:  # as if the process were killed: nothing more is written
                raise KeyboardInterrupt
        whole(file, content, **options)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_whole", told)
        with pytest.raises(incast.Interrupted):
            incast.run(small, out=out, jobs=1, traces=["events", "queue", "cwnd"])
    assert "runs" not in written
    assert len(incast.open_results(out)) == 0
    again = incast.run(small, out=out, traces=["events", "queue", "cwnd"])
    assert len(again) == 2


def test_a_full_disk_names_the_directory(
    command: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, opened = tmp_path / "out", Path.open

    def full(self: Path, mode: str = "r", *others: object, **options: object) -> object:
        handle = opened(self, mode, *others, **options)  # type: ignore[call-overload]
        if mode == "xb" and self.parent.name == "runs":
            device = os.open("/dev/full", os.O_WRONLY)
            os.dup2(device, handle.fileno())
            os.close(device)
        return handle

    monkeypatch.setattr(Path, "open", full)
    outcome = command("run", small, "--out", out)
    assert outcome.code == 2
    assert outcome.err == f"incast: {out}/runs: cannot be written to: No space left on device\n"


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
        f"6 runs: 3 points, 2 seeds\n0 of them are already in {out}\n6 to do, about "
    )
    assert not out.exists()
    incast.run(sweep, out=out)
    assert command("run", sweep, "--dry-run", "--out", out, "--seeds", "3").out.splitlines()[
        1:
    ] == [
        f"6 of them are already in {out}",
        f"3 to do, about 1 s on {min(len(os.sched_getaffinity(0)), 3)} processors",
    ]
    assert command("run", sweep, "--dry-run", "--out", out).out.endswith("\n0 to do\n")


def test_the_expected_work_is_that_of_the_blocks_or_of_the_time(small: Path) -> None:
    from incast.sweep.work import packets

    def of(**changes: object) -> float:
        scenario = incast.load(small)
        for key, value in changes.items():
            scenario = scenario.override(f"workload.{key}", value)
        return packets(scenario.plan.points[0].here)

    assert of() == 4 * 12 * 2
    assert of(blocks=4) == 2 * of()
    document = incast.load(small).document
    del document["workload"]["blocks"]
    document["workload"]["duration"] = "3s"
    assert packets(incast.load(document).plan.points[0].here) == 1e9 * 3 / 8 / 1500
