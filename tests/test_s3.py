"""Results on a local server with the S3 protocol."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest
from moto.server import ThreadedMotoServer

import incast
from conftest import SMALL, Command

System = fsspec.AbstractFileSystem
OUT = "s3://bucket/sweep"
SEEDS = 800


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[System]:
    """Return an empty bucket. As for users, environment variables tell commands the server."""
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "mine",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    system = fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False)
    system.mkdir("bucket")
    yield system
    system.rm("bucket", recursive=True)
    type(system).clear_instance_cache()


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """Return a sweep that takes several seconds."""
    path = tmp_path / "long.toml"
    text = SMALL.replace("seeds = 2", f"seeds = {SEEDS}").replace("blocks = 2", "blocks = 60")
    path.write_text(text + '[sweep]\n"workload.servers" = [2, 8]\n')
    return path


def files(system: System, table: str = "runs") -> dict[str, bytes]:
    found = system.glob(f"bucket/sweep/{table}/*")
    return {path.rpartition("/")[2]: system.cat_file(path) for path in found}


def local(out: Path, table: str = "runs") -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (out / table).iterdir()}


def started(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "incast", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_files_are_those_of_a_local_directory(
    command: Command, sweep: Path, tmp_path: Path, bucket: System
) -> None:
    here = incast.run(sweep, out=tmp_path / "out", traces="queue")
    told = command("run", sweep, "--out", OUT, "--trace", "queue")
    assert (told.code, told.err) == (0, "")
    for table in ("runs", "queues"):
        assert files(bucket, table) == local(tmp_path / "out", table)
    there = incast.open_results(OUT)
    assert there.frame().drop("wall_s").equals(here.frame().drop("wall_s"))
    assert there.frame()["wall_s"].null_count() == 0
    before = {path: bucket.modified(path) for path in bucket.glob("bucket/sweep/runs/*")}
    assert command("run", sweep, "--out", OUT).out == told.out
    assert {path: bucket.modified(path) for path in before} == before


def test_what_was_stored_before_a_kill_is_not_run_again(
    command: Command, long: Path, tmp_path: Path, bucket: System
) -> None:
    killed = started("run", long, "--out", OUT, "--jobs", 1)
    deadline = time.monotonic() + 60
    while not files(bucket) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    stored = {key for one in files(bucket).values() for key in pl.read_parquet(one)["run"]}
    assert 0 < len(stored) < 2 * SEEDS
    assert command("run", long, "--out", OUT).code == 0
    lines = [line for file in files(bucket, "times").values() for line in file.splitlines()[1:]]
    ran = Counter(line.split(b",")[0].decode() for line in lines)
    assert len(ran) == 2 * SEEDS
    assert {ran[key] for key in stored} == {1}
    incast.run(long, out=tmp_path / "once")
    assert files(bucket) == local(tmp_path / "once")


def test_shards_of_several_processes_share_a_bucket(
    command: Command, long: Path, tmp_path: Path, bucket: System
) -> None:
    parts = [started("run", long, "--shard", f"{n}/3", "--out", OUT, "--jobs", 1)
             for n in (2, 3, 1)]  # fmt: skip
    for part in parts:
        _, err = part.communicate(timeout=120)
        assert part.returncode == 0, err
    rows = pl.concat([pl.read_parquet(one) for one in files(bucket).values()])
    assert rows["run"].n_unique() == rows.height == 2 * SEEDS
    told = command("merge", OUT)
    assert told.out == f"1600 of 1600 runs in 2 files of {OUT}\n"
    incast.run(long, out=tmp_path / "once")
    assert files(bucket) == local(tmp_path / "once")
