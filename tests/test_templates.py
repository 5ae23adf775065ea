"""Job files for clusters: the cluster accepts them, and they run the whole sweep."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

import incast
from conftest import SWEEP, Command, said

VERSIONS = ("1.29", "1.33")

# The options and values that sbatch accepts, according to its manual.
OPTIONS = {
    "job-name": r"[\w.-]+",
    "array": r"1-[1-9]\d*",
    "ntasks": r"1",
    "cpus-per-task": r"[1-9]\d*",
    "mem": r"[1-9]\d*[KMGT]",
    "time": r"\d+:[0-5]\d:[0-5]\d",
    "output": r"[\w.%-]+",
    "requeue": None,
}


@pytest.fixture
def spaced(tmp_path: Path) -> Path:
    """Return a sweep in a folder whose name needs quotes."""
    folder = tmp_path / "my 'sweeps'"
    folder.mkdir()
    (folder / "mine.toml").write_text(SWEEP)
    return folder / "mine.toml"


def stored(out: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (out / "runs").iterdir()}


def shell(script: str, place: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script; PATH has this environment's `incast`, and a script that replaces srun."""
    tools = place / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "srun").write_text('#!/bin/sh\nexec "$@"\n')
    (tools / "srun").chmod(0o755)
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", script], env={**os.environ, "PATH": path, **variables},
        capture_output=True, text=True, check=True, timeout=120, cwd=place,
    )  # fmt: skip


def test_the_array_of_slurm_runs_the_sweep(command: Command, spaced: Path, tmp_path: Path) -> None:
    out = tmp_path / "all results"
    told = command("sweep", "template", "slurm", spaced, "--seeds", "3", "--shards", "4",
                   "--set", "workload.servers=[2, 4]", "--cpus", "2", "--out", out)  # fmt: skip
    assert told.code == 0, told.err
    for number in (4, 2, 1, 3, 2):
        shell(told.out, tmp_path, SLURM_ARRAY_TASK_ID=str(number), SLURM_CPUS_PER_TASK="2")
    merge = re.search(r"^#   (incast merge .*)$", told.out, re.M)
    assert merge is not None
    assert shell(merge[1], tmp_path).stdout.startswith("6 of 6 runs in 1 file of ")
    scenario = incast.load(spaced).override("run.seeds", 3)
    incast.run(scenario.override("workload.servers", [2, 4]), out=tmp_path / "once")
    assert stored(out) == stored(tmp_path / "once")


def test_options_for_slurm_are_what_sbatch_takes(
    command: Command, sweep: Path, tmp_path: Path
) -> None:
    text = command("sweep", "template", "slurm", sweep, "--out", tmp_path / "out").out
    assert text.startswith("#!/bin/bash\n#SBATCH ")
    head, _, body = text.partition("\n\n")
    assert "#SBATCH" not in body
    given = [re.fullmatch(r"#SBATCH --([a-z-]+)(?:=(\S+))?", line) for line in head.split("\n")[1:]]
    found = {one[1]: one[2] for one in given if one is not None}
    assert len(found) == len(given) == len(OPTIONS)
    for name, value in found.items():
        form = OPTIONS[name]
        assert value is None if form is None else re.fullmatch(form, value), name
    assert found["array"] == "1-1"  # six short runs are a single shard


def test_the_job_of_kubernetes_is_valid_and_runs_the_sweep(
    command: Command, spaced: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results"
    told = command("sweep", "template", "kubernetes", spaced, "--seeds", "3", "--shards", "4",
                   "--out", out, "--image", "registry/incast:1")  # fmt: skip
    assert told.code == 0, told.err
    config, job = yaml.safe_load_all(told.out)
    for version in VERSIONS:
        for manifest in (config, job):
            kubernetes_validate.validate(manifest, version, strict=True)
    assert config["data"]["scenario.toml"] == SWEEP
    spec = job["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)
    (container,) = spec["template"]["spec"]["containers"]
    assert container["image"] == "registry/incast:1"
    assert container["resources"]["requests"]["cpu"] == "4"
    mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounted == {"scenario": "/scenario", "results": str(tmp_path)}
    volumes = {volume["name"]: volume for volume in spec["template"]["spec"]["volumes"]}
    assert volumes["results"]["persistentVolumeClaim"]["claimName"] == "incast-results"
    assert volumes["scenario"]["configMap"]["name"] == config["metadata"]["name"]

    (tmp_path / "scenario.toml").write_text(config["data"]["scenario.toml"])
    *interpreter, script = container["command"]
    assert interpreter == ["/bin/sh", "-c"]
    script = script.replace("/scenario/", f"{tmp_path}/")
    for index in (3, 0, 2, 1):
        shell(script, tmp_path, JOB_COMPLETION_INDEX=str(index))
    assert command("merge", out, *Path(f"{out}.parts").iterdir()).code == 0
    incast.run(incast.load(spaced).override("run.seeds", 3), out=tmp_path / "once")
    assert stored(out) == stored(tmp_path / "once")


def test_shards_on_an_object_store_share_it(command: Command, sweep: Path) -> None:
    address = "s3://bucket/mine"
    text = command("sweep", "template", "kubernetes", sweep, "--out", address, "--shards", "2").out
    assert f"#   incast merge {address}\n" in text
    _, job = yaml.safe_load_all(text)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert f"--out {address} " in container["command"][2]
    assert [mount["name"] for mount in container["volumeMounts"]] == ["scenario"]


def test_the_script_for_dask_runs_the_sweep(command: Command, spaced: Path, tmp_path: Path) -> None:
    told = command("sweep", "template", "dask", spaced, "--out", tmp_path / "out", "--cpus", "2")
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    shell(told.out, tmp_path, PORT=str(port), HOSTNAME="127.0.0.1")
    incast.run(spaced, out=tmp_path / "once")
    assert stored(tmp_path / "out") == stored(tmp_path / "once")


def test_texts_of_any_shape_survive_yaml(command: Command, tmp_path: Path) -> None:
    for number, text in enumerate(
        (f"\n{SWEEP}", f"{SWEEP}\n\n", SWEEP.rstrip(), f"#\tx: 'y'\n{SWEEP}")
    ):
        path = tmp_path / f"{number}.toml"
        path.write_text(text)
        told = command("sweep", "template", "kubernetes", path, "--out", "s3://b/x")
        config, _ = yaml.safe_load_all(told.out)
        assert config["data"]["scenario.toml"] == text


def test_mistakes_in_templates_are_one_line(command: Command, sweep: Path, tmp_path: Path) -> None:
    def of(*given: object) -> str:
        return said(command("sweep", "template", *given))

    assert "'slurm', 'kubernetes', 'dask'" in of("pbs", sweep, "--out", "x")
    assert "99 are more than the 6 runs" in of("slurm", sweep, "--out", "x", "--shards", "99")
    for out in ("x", "/x"):
        assert "must be an absolute path below" in of("kubernetes", sweep, "--out", out)
    assert "there is no protocol 'nope'; must be s3, gs" in of("slurm", sweep, "--out", "nope://x")
    assert "Missing option '--out'" in of("slurm", sweep)
    line = of("slurm", sweep, "--out", "x", "--set", "run.precision=0.1")
    assert "cannot be combined with run.precision" in line
    assert "template" in command("sweep").out
