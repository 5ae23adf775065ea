"""Results on other file systems: the files and the commands are the same as on a local one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import fsspec
import polars as pl
import pytest

import incast
from conftest import Command, said


class State(Protocol):
    """The state that a progress function gets."""

    done: int


System = fsspec.AbstractFileSystem
OUT = "memory://results/sweep"


@pytest.fixture
def memory() -> Iterator[System]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


def files(system: System, table: str = "runs") -> dict[str, bytes]:
    found = system.glob(f"/results/sweep/{table}/*")
    return {path.rpartition("/")[2]: system.cat_file(path) for path in found}


def test_the_files_are_those_of_a_local_directory(
    sweep: Path, tmp_path: Path, memory: System
) -> None:
    local = incast.run(sweep, out=tmp_path / "out", traces="queue")
    there = incast.run(sweep, out=OUT, traces="queue")
    for table in ("runs", "queues"):
        assert files(memory, table) == {
            file.name: file.read_bytes() for file in (tmp_path / "out" / table).iterdir()
        }
    assert there.frame().drop("wall_s").equals(local.frame().drop("wall_s"))
    again = incast.open_results(OUT)
    assert again.frame().equals(there.frame())
    assert again.frame()["wall_s"].null_count() == 0
    job = next(again.plan.jobs())
    assert again.traces.of("queue", job).equals(local.traces.of("queue", job))
    assert not memory.glob("/results/sweep/**/*.tmp")


def test_only_what_is_missing_is_run_there(sweep: Path, memory: System) -> None:
    first = incast.run(sweep, out=OUT).frame()
    before = {path: memory.modified(path) for path in memory.glob("/results/sweep/runs/*")}
    assert incast.run(sweep, out=OUT).frame().equals(first)  # wall_s included
    more = incast.run(incast.load(sweep).override("run.seeds", [1, 4]), out=OUT)
    assert more.frame()["seed"].unique().sort().to_list() == [1, 4]
    after = {path: memory.modified(path) for path in memory.glob("/results/sweep/runs/*")}
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


def test_what_was_stored_before_an_interrupt_is_used(sweep: Path, memory: System) -> None:
    def stop(state: State) -> None:
        if state.done:
            raise KeyboardInterrupt

    long = incast.load(sweep).override("run.seeds", 300).override("workload.blocks", 60)
    with pytest.raises(incast.Interrupted) as stopped:
        incast.run(long, out=OUT, jobs=1, progress=stop)
    done = len(stopped.value.results)
    assert 0 < done < 900
    whole = incast.run(long, out=OUT)
    assert len(whole) == 900
    assert pl.concat([pl.read_parquet(one) for one in files(memory).values()]).height == 900
    times = files(memory, "times").values()
    lines = [line for file in times for line in file.decode().splitlines()[1:]]
    assert len({line.split(",")[0] for line in lines}) == len(lines) == 900


def test_shards_there_are_merged_here(
    command: Command, sweep: Path, tmp_path: Path, memory: System
) -> None:
    incast.run(sweep, out=tmp_path / "whole")
    for number in (2, 1):
        told = command("run", sweep, "--shard", f"{number}/2", "--out", OUT)
        assert told.code == 0, told.err
    told = command("merge", tmp_path / "out", OUT)
    assert told.out == f"6 of 6 runs in 1 file of {tmp_path / 'out'}\n"
    whole, merged = (
        {file.name: file.read_bytes() for file in (tmp_path / name / "runs").iterdir()}
        for name in ("whole", "out")
    )
    assert merged == whole
    assert command("merge", OUT).out == f"6 of 6 runs in 1 file of {OUT}\n"
    assert files(memory) == whole


def test_the_commands_take_addresses(
    command: Command, sweep: Path, tmp_path: Path, memory: System
) -> None:
    told = command("run", sweep, "--out", OUT, "--format", "csv")
    assert told.err == f"incast: wrote {OUT}/rows.csv\n"
    assert memory.cat_file("/results/sweep/rows.csv").startswith(b"workload.servers,seed,")
    assert f"6 of them are already in {OUT}" in command("run", sweep, "--out", OUT, "--dry-run").out
    state = json.loads(command("status", OUT, "--format", "json").out)
    assert (state["done"], state["missing"], state["directory"]) == (6, 0, OUT)
    assert "runs/*.parquet" in command("describe", OUT).out
    assert "the same, seed by seed" in command("compare", OUT, OUT).out
    picture = tmp_path / "goodput.png"
    assert command("plot", OUT, "-o", picture).code == 0
    assert picture.stat().st_size > 0
    assert "not on this machine" in said(command("plot", OUT))


def test_mistakes_in_addresses_are_one_line(
    command: Command, sweep: Path, memory: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no such directory" in said(command("status", "memory://nothing/here"))
    assert "there is no protocol 'nope'" in said(command("status", "nope://here"))
    memory.pipe_file("/results/sweep/mine.txt", b"mine")
    line = said(command("run", sweep, "--out", OUT))
    assert f"{OUT}: exists but contains no results" in line

    def missing(*_: object, **__: object) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec, "filesystem", missing)
    assert "pip install 'incast[s3]'" in said(command("run", sweep, "--out", "s3://bucket/x"))


def test_a_protocol_without_an_extra_names_its_own_package(
    command: Command, sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> type:
        raise ImportError(f"{name} requires another package\nto be installed; " + "x" * 1000)

    monkeypatch.setattr(fsspec, "get_filesystem_class", missing)
    line = said(command("run", sweep, "--out", "sftp://host/x"))
    assert "--out': sftp requires another package to be installed; xxx" in line
    assert "incast[" not in line
    assert line.endswith("x…\n")
    assert len(line) < 260


def test_a_store_that_fails_is_named(
    command: Command, sweep: Path, memory: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise RuntimeError("Access\nDenied")

    monkeypatch.setattr(type(memory), "pipe_file", refused)
    line = said(command("run", sweep, "--out", OUT))
    assert line == f"incast: {OUT}: cannot be written to: Access Denied\n"


def test_an_address_of_this_machine_is_a_path(sweep: Path, tmp_path: Path) -> None:
    incast.run(sweep, out=f"file://{tmp_path}/out")
    assert len(incast.open_results(tmp_path / "out")) == 6
