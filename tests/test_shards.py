"""Sweeps in parts: shards, their merge, and the state of a directory."""

import json
import os
import random
import shutil
from pathlib import Path

import pytest

import incast
from conftest import SMALL, Command, said

SEEDS = 60


@pytest.fixture
def varied(tmp_path: Path) -> Path:
    """Return a scenario of 360 different runs, which differ in cost and partly in columns."""
    path = tmp_path / "varied.toml"
    text = SMALL.replace("seeds = 2", f"seeds = {SEEDS}")
    path.write_text(
        text + '[sweep]\n"workload.servers" = [2, 3, 16]\n'
        '"transport.name" = ["plato", "newreno", "newreno"]\n'
    )
    return path


def stored(out: Path) -> dict[str, bytes]:
    """Return the files that must not depend on the process that wrote them."""
    return {
        f"{file.parent.name}/{file.name}": file.read_bytes()
        for file in out.rglob("*.parquet")
        if file.parent.name != "times"
    }


def test_merged_shards_are_the_store_of_one_process(
    command: Command, varied: Path, tmp_path: Path
) -> None:
    whole, merged = tmp_path / "whole", tmp_path / "merged"
    incast.run(varied, out=whole, traces="queue")
    numbers = list(range(1, 8))
    random.Random(3).shuffle(numbers)
    for number in [*numbers, numbers[0]]:  # the first shard runs twice
        part = f"{number}/7"
        told = command("run", varied, "--shard", part, "--out", tmp_path / f"part-{number}",
                       "--trace", "queue")  # fmt: skip
        assert told.code == 0, told.err
        assert told.out.startswith(f"shard {part} is done: ")
    parts = [tmp_path / f"part-{number}" for number in numbers]
    counts = [len(incast.open_results(part)) for part in parts]
    assert sum(counts) == 9 * SEEDS  # equal points have a row each, although they run once
    assert max(counts) < 2 * min(counts)
    told = command("merge", merged, *parts)
    assert (told.code, told.err) == (0, "")
    assert told.out == f"360 of 360 runs in 1 file of {merged}\n"
    assert stored(merged) == stored(whole)
    manifests = [json.loads((out / "manifest.json").read_text()) for out in (merged, whole)]
    for manifest in manifests:
        del manifest["started"], manifest["wall_s"]
    assert manifests[0] == manifests[1]
    rows = incast.open_results(merged).frame(None)
    assert rows["wall_s"].null_count() == 0
    assert rows.drop("wall_s").equals(incast.open_results(whole).frame(None).drop("wall_s"))


def test_shards_may_share_a_directory_that_is_packed_afterwards(
    command: Command, varied: Path, tmp_path: Path
) -> None:
    whole, shared = tmp_path / "whole", tmp_path / "shared"
    incast.run(varied, out=whole)
    for number in (3, 1, 2):
        incast.run(varied, out=shared, shard=f"{number}/3")
    assert len(stored(shared)) >= 3
    told = command("merge", shared)
    assert told.out == f"360 of 360 runs in 1 file of {shared}\n"
    assert stored(shared) == stored(whole)
    before = stored(shared)
    assert command("merge", shared).code == 0
    assert stored(shared) == before


def test_a_merge_tells_what_is_missing_and_can_be_continued(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    incast.run(sweep, out=tmp_path / "one", shard="1/2")
    told = command("merge", out, tmp_path / "one")
    assert told.code == 0
    done = len(incast.open_results(tmp_path / "one"))
    assert 0 < done < 6
    assert told.out == (
        f"{done} of 6 runs in 1 file of {out}; {6 - done} are missing "
        f"(incast status {out} lists them)\n"
    )
    incast.run(sweep, out=tmp_path / "two", shard="2/2")
    shutil.rmtree(tmp_path / "one")  # the runs of this shard are already in out
    assert command("merge", out, tmp_path / "two").out == f"6 of 6 runs in 1 file of {out}\n"
    incast.run(sweep, out=tmp_path / "whole")
    assert stored(out) == stored(tmp_path / "whole")


def test_seeds_of_several_directories_are_put_together(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    scenario = incast.load(sweep)
    for seeds in ([1, 2], [5, 2]):
        incast.run(scenario.override("run.seeds", seeds), out=tmp_path / str(seeds[0]))
    told = command("merge", tmp_path / "out", tmp_path / "1", tmp_path / "5")
    assert told.out == f"9 of 9 runs in 1 file of {tmp_path / 'out'}\n"
    incast.run(scenario.override("run.seeds", [1, 2, 5]), out=tmp_path / "whole")
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")


def test_what_cannot_be_merged_is_refused(
    command: Command, small: Path, sweep: Path, tmp_path: Path
) -> None:
    incast.run(small, out=tmp_path / "small")
    incast.run(sweep, out=tmp_path / "sweep")
    out = tmp_path / "out"
    line = said(command("merge", out, tmp_path / "small", tmp_path / "sweep"))
    assert "contains the results of another scenario (A small read)" in line
    assert not out.exists()
    assert "no such directory" in said(command("merge", out, tmp_path / "nothing"))
    assert "name the directories to merge" in said(command("merge", out))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").write_text("mine")
    line = said(command("merge", tmp_path / "other", tmp_path / "small"))
    assert "contains no results (no manifest.json)" in line


@pytest.fixture
def shard(sweep: Path, tmp_path: Path) -> Path:
    """Return a directory of results with traces."""
    one = tmp_path / "one"
    incast.run(sweep, out=one, traces=["events"])
    return one


@pytest.mark.parametrize("place", ["times/x.csv", "runs/pack-x.parquet", "events/x.parquet"])
def test_a_link_in_a_shard_is_not_followed(
    command: Command, shard: Path, tmp_path: Path, place: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    kept = next((shard / place).parent.iterdir())
    for target in (secret, kept):
        (shard / place).symlink_to(target)
        told = command("merge", tmp_path / "out", shard)
        assert (told.code, told.err.count("\n")) == (2, 1)
        assert str(shard / place) in told.err
        assert not (tmp_path / "out").exists()
        (shard / place).unlink()


@pytest.mark.parametrize("name", ["times", "runs", "events"])
@pytest.mark.parametrize("which", ["run", "merge", "from"])
def test_a_folder_of_results_that_is_a_link_is_refused(
    command: Command, shard: Path, sweep: Path, tmp_path: Path, name: str, which: str
) -> None:
    """Through a link in a directory of results, a run could write to any other place."""
    elsewhere = tmp_path / "elsewhere"
    shutil.move(shard / name, elsewhere)
    (shard / name).symlink_to(elsewhere)
    before = sorted(elsewhere.iterdir())
    told = {
        "run": lambda: command("run", sweep, "--out", shard, "--trace", "events", "--seeds", 3),
        "merge": lambda: command("merge", shard),
        "from": lambda: command("merge", tmp_path / "out", shard),
    }[which]()
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert told.err.endswith(f"{shard / name}: must be a folder, not a link\n")
    assert sorted(elsewhere.iterdir()) == before
    assert not (tmp_path / "out").exists()


def test_the_directory_of_results_may_be_a_link(
    command: Command, shard: Path, sweep: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(shard)
    told = command("run", sweep, "--out", tmp_path / "link", "--seeds", 3)
    assert told.code == 0
    assert incast.Results.open(shard).frame()["seed"].max() == 3


@pytest.mark.parametrize("place", ["times/x.csv", "runs/pack-x.parquet", "events/x.parquet"])
def test_a_pipe_in_a_shard_is_refused(
    command: Command, shard: Path, tmp_path: Path, place: str
) -> None:
    os.mkfifo(shard / place)
    told = command("merge", tmp_path / "out", shard)
    assert (told.code, told.err.count("\n")) == (2, 1)
    assert told.err.endswith(f"{shard / place}: must be a regular file\n")


def test_damaged_traces_and_lines_of_times_are_not_copied(
    command: Command, shard: Path, tmp_path: Path
) -> None:
    (times,) = (shard / "times").iterdir()
    good = times.read_bytes()
    times.write_bytes(good.replace(b".", b"7", 1) + b"root:x:0:0\n")
    assert command("merge", tmp_path / "out", shard).code == 0
    copied = (tmp_path / "out" / "times" / times.name).read_bytes().splitlines(keepends=True)
    lines = good.splitlines(keepends=True)
    assert copied == [lines[0], *lines[2:]]
    trace = sorted((shard / "events").iterdir())[0]
    content = bytearray(trace.read_bytes())
    content[len(content) // 2] ^= 1
    trace.write_bytes(content)
    told = command("merge", tmp_path / "other", shard)
    assert told.code == 2
    assert f"{trace}: damaged" in told.err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "-1/4"])
def test_shards_are_read(command: Command, sweep: Path, tmp_path: Path, text: str) -> None:
    line = said(command("run", sweep, f"--shard={text}", "--out", tmp_path / "out"))
    assert "must be i/n with i from 1 to n, e.g. 2/16" in line
    assert not (tmp_path / "out").exists()


def test_a_shard_shows_no_table(command: Command, sweep: Path, tmp_path: Path) -> None:
    assert "needs --out DIR" in said(command("run", sweep, "--shard", "1/2"))
    line = said(command("run", sweep, "--shard", "1/2", "--out", tmp_path, "--fail-if", "collapse"))
    assert "cannot be combined with" in line


def test_a_dry_run_tells_of_the_shard(command: Command, sweep: Path, tmp_path: Path) -> None:
    told = [
        command("run", sweep, "--shard", f"{n}/2", "--out", tmp_path / "out", "--dry-run").out
        for n in (1, 2)
    ]
    counts = [int(one.split()[0]) for one in told]
    assert sum(counts) == 6
    assert "shard 1/2 of 6 runs: 3 points, 2 seeds" in told[0]


def test_the_state_of_a_directory(command: Command, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    incast.run(incast.load(sweep).override("run.seeds", [1, 2]), out=out)
    assert "missing   nothing" in command("status", out).out
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["plan"]["seeds"] = [1, 2, 3, 4, 9]
    (out / "manifest.json").write_text(json.dumps(manifest))
    told = command("status", out, "--jobs", "3")
    assert told.code == 0
    assert "done      6 of 15 runs (40\xa0%): 3 points, 5 seeds; in 1 file" in told.out
    assert "missing   9 runs, about 1 s on 3 processors" in told.out
    assert told.out.count("3 to 4, 9") == 3
    state = json.loads(command("status", out, "--jobs", "3", "--format", "json").out)
    assert (state["runs"], state["done"], state["missing"]) == (15, 6, 9)
    assert [point["workload.servers"] for point in state["points"]] == [2, 8, 32]
    rows = incast.open_results(out).frame().partition_by("workload.servers", as_dict=True)
    taken = {servers: one["wall_s"].mean() for (servers,), one in rows.items()}
    for point in state["points"]:
        assert point["missing_seeds"] == "3 to 4, 9"
        assert point["run_s"] == pytest.approx(taken[point["workload.servers"]])
        assert point["left_s"] == pytest.approx(3 * point["run_s"])
    assert state["left_s"] == pytest.approx(sum(point["left_s"] for point in state["points"]) / 3)
    assert state["spent_s"] == pytest.approx(incast.open_results(out).frame()["wall_s"].sum())


def test_the_state_of_what_has_not_run(command: Command, sweep: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    incast.run(sweep, out=out, shard="2/2")
    state = json.loads(command("status", out, "--format", "json").out)
    missing = [point for point in state["points"] if point["done"] == 0]
    for point in state["points"]:
        assert point["run_s"] > 0
    assert state["state"] == "partial"
    assert state["missing"] == sum(point["missing"] for point in state["points"]) > 0
    assert ("~" in command("status", out).out) == bool(missing)
    assert "no such directory" in said(command("status", tmp_path / "nothing"))
