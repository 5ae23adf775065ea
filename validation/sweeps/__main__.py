"""Compare a sweep by threads with the same sweep by Dask and by Slurm after processes were killed.

A sweep of 20 000 runs is done in three ways. First, the threads of this process do the runs.
Second, two Dask workers do them, and three times a worker is killed. Third, 16 shards on a Slurm
cluster of one node do them in random order, and a hundred times a process is killed. The files must
be the same, byte for byte. Slurm must be installed (Debian: slurmctld, slurmd, slurm-client,
munge); without Slurm, its part is left out, with a message. `--quick` takes 800 runs, 4 shards, and
fewer kills.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import distributed

import incast
from incast.sweep.progress import Progress
from validation.common.command import asked_quick
from validation.sweeps import slurm

SCENARIO = """\
title = "Many reads"
[network]
rate = "1Gbps"
delay = "25us"
buffer = "32KiB"
[workload]
name = "barrier-read"
sru = "16KiB"
blocks = 60
[transport]
name = "newreno"
rto_min = "10ms"
[sweep]
"workload.servers" = [2, 4, 8, 16]
"""
GAP = 0.8  # seconds between two kills, on average
PATIENCE = 1200  # maximum seconds for all shards


@dataclass(frozen=True)
class Size:
    """The size of the study."""

    seeds: int
    shards: int
    kills: int
    lost: int
    """Number of Dask workers to kill; `kills` is the number of processes of shards to kill."""

    @property
    def runs(self) -> int:
        """The number of runs of the sweep."""
        return 4 * self.seeds


WHOLE, SAMPLE = Size(5000, 16, 100, 3), Size(200, 4, 3, 1)


def main() -> int:
    """Run the sweep in three ways."""
    size = SAMPLE if asked_quick(__doc__ or "") else WHOLE
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="incast-") as name:
        folder = Path(name)
        file = folder / "reads.toml"
        file.write_text(SCENARIO)
        scenario = incast.load(file).override("run.seeds", size.seeds)
        incast.run(scenario, out=folder / "threads")
        expected = stored(folder / "threads")
        lost = by_dask(scenario, folder / "dask", size.lost, chance)
        held = told(f"Dask, {lost} workers killed", expected, stored(folder / "dask"))
        absent = slurm.missing()
        if absent:
            print(f"left out: Slurm: there is no {', '.join(absent)} on this machine")
            return int(not held)
        (folder / "cluster").mkdir()
        with slurm.running(folder / "cluster") as cluster:
            killed = by_slurm(cluster, file, folder / "slurm", size, chance)
        again = repeated(folder / "slurm") - size.runs
        what = f"Slurm, {size.shards} shards, {killed} processes killed, {again} runs done again"
        held &= told(what, expected, stored(folder / "slurm"))
        enough = (killed, lost) == (size.kills, size.lost)
        what = f"{killed} of {size.kills} processes and {lost} of {size.lost} workers were killed"
        print("holds " if enough else "FAILS ", what)
    return int(not (held and enough))


def told(what: str, expected: dict[str, bytes], found: dict[str, bytes]) -> bool:
    """Compare the files of two sweeps; print and return whether they are the same."""
    same = found == expected
    print(
        "holds " if same else "FAILS ",
        f"{what}: the files are the same as with threads",
        flush=True,
    )
    return same


def stored(out: Path) -> dict[str, bytes]:
    """Return the files of rows, by name."""
    return {file.name: file.read_bytes() for file in (out / "runs").iterdir()}


def repeated(out: Path) -> int:
    """Return the number of finished runs; a run that was lost and repeated counts twice."""
    files = Path(f"{out}.parts").glob("*/times/*.csv")
    return sum(len(file.read_bytes().splitlines()) - 1 for file in files)


def by_dask(scenario: incast.Scenario, out: Path, most: int, chance: random.Random) -> int:
    """Run a sweep with two Dask workers, and kill workers up to `most` times; return the number."""
    lost = 0
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as here:

        def kill(state: Progress) -> None:
            nonlocal lost
            workers = [worker.pid for worker in here.workers.values() if worker.pid]
            if lost < most and workers and state.done > state.total * lost // (most + 1):
                os.kill(chance.choice(workers), signal.SIGKILL)
                lost += 1

        incast.run(scenario, out=out, executor=here.scheduler_address, progress=kill)
    return lost


def by_slurm(cluster: slurm.Slurm, file: Path, out: Path, size: Size, chance: random.Random) -> int:
    """Run a sweep in shards, kill processes of them, and merge; return the number of kills."""
    tools = Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{cluster.environment['PATH']}"
    cluster = replace(cluster, environment={**cluster.environment, "PATH": path})
    text = cluster.call(
        "incast", "sweep", "template", "slurm", str(file), "--seeds", str(size.seeds),
        "--shards", str(size.shards), "--cpus", "1", "--out", str(out),
    )  # fmt: skip
    script = cluster.folder / "reads.sh"
    script.write_text(text)
    cluster.call("sbatch", "--test-only", str(script))
    left = list(range(1, size.shards + 1))
    chance.shuffle(left)
    jobs: dict[int, str] = {}
    killed, deadline = 0, time.monotonic() + PATIENCE
    while left:
        if time.monotonic() > deadline:
            raise TimeoutError(f"shards {left} are not done; see {cluster.folder}")
        waiting = set(cluster.call("squeue", "--noheader", "--format=%F").split())
        ended = [part for part in left if part in jobs and jobs[part] not in waiting]
        left = [part for part in left if part not in ended or not is_done(cluster, part)]
        for part in left:
            if part not in jobs or part in ended:
                said = cluster.call("sbatch", f"--array={part}", str(script))
                jobs[part] = said.split()[-1]
        time.sleep(chance.uniform(0, 2 * GAP))
        if killed < size.kills:
            killed += kill_one(out, chance)
    merge = re.search(r"^#   (incast merge .*)$", text, re.M)
    assert merge is not None
    subprocess.run(
        ["bash", "-c", merge[1]], env=cluster.environment, check=True, stdout=subprocess.DEVNULL
    )
    return killed


def is_done(cluster: slurm.Slurm, part: int) -> bool:
    """Return whether a part reported that it is done; a killed part does not."""
    logs = cluster.folder.glob(f"incast-*-{part}.log")
    return any(f"shard {part}/" in log.read_text() for log in logs)


def kill_one(out: Path, chance: random.Random) -> bool:
    """Kill a random process of the shards, a simulator or its parent; return whether one ran."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # the process has ended
            continue
        if "--shard" in words and any(word.startswith(f"{out}.parts/") for word in words):
            found.append(int(process.name))
    if not found:
        return False
    try:
        os.kill(chance.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
