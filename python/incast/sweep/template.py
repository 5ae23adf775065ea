"""Job files for clusters: a Slurm array, an indexed Job of Kubernetes, or a script for Dask.

Each task runs one shard and stores its results in a separate directory; on an object store, all
tasks share one directory. A task may run on any machine, in any order, and more than once.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from incast import units
from incast.errors import ResultsError
from incast.scenario import Scenario
from incast.scenario.document import read
from incast.scenario.resolved import Resolved
from incast.scenario.shipped import located
from incast.sweep.forecast import forecast
from incast.sweep.work import cost
from incast.userfile import text_of

SHARD_HOURS = 1.0  # hours per task, if the number of shards is not given
MOST_SHARDS = 1000  # Slurm's default limit is 1001 tasks in an array
_DOUBT = 3  # factor by which a task may take longer than estimated
_LEAST_MINUTES = 10
_BASE, _PER_FLOW = 256 * 2**20, 8 * 2**10  # bytes of a process, and of a connection of a run
_MOST_CONFIG = 2**20  # bytes of a ConfigMap
_NAME = 40  # letters of a job's name


@dataclass(frozen=True)
class Task:
    """A sweep to put into a job file.

    Parameters
    ----------
    scenario
        The scenario with all changes.
    source
        The scenario's file or name, as the user gave it.
    options
        The options of `incast run` that change the scenario.
    out
        The directory of the results: a path or an address.
    shards
        The number of parts.
    cpus
        The processors of each part.
    """

    scenario: Scenario
    source: Path
    options: list[str]
    out: str
    shards: int
    cpus: int

    @property
    def name(self) -> str:
        """A name for the job: lower-case letters, digits and hyphens."""
        title = re.sub(r"[^a-z0-9]+", "-", self.scenario.plan.title.lower())[:_NAME].strip("-")
        return f"incast-{title}" if title else "incast"

    @property
    def runs(self) -> int:
        """The number of different runs."""
        return len(self.scenario.plan.distinct) * len(self.scenario.plan.seeds)

    @property
    def minutes(self) -> int:
        """Time limit of a part in minutes, with a margin for the error of the estimate."""
        costs = [cost(point.here) for _, point in self.scenario.plan.distinct]
        longest = self._processor_s * max(costs) / sum(costs) / len(self.scenario.plan.seeds)
        part = self._processor_s / self.shards / self.cpus + longest
        return max(ceil(_DOUBT * part / 60), _LEAST_MINUTES)

    @property
    def memory(self) -> int:
        """The memory of a part in MiB."""
        largest = max(_flows(point.here) for _, point in self.scenario.plan.distinct)
        return ceil((_BASE + self.cpus * (largest * _PER_FLOW + _BASE // 4)) / 2**20)

    @property
    def _processor_s(self) -> float:
        return forecast(self.scenario, jobs=1).seconds

    def about(self) -> list[str]:
        """Describe the sweep in a few lines."""
        plan = self.scenario.plan
        runs, time = units.plural(self.runs, "run"), units.duration(self._processor_s)
        points = units.plural(len(plan.points), "point")
        seeds = units.plural(len(plan.seeds), "seed")
        return [
            f"{runs}: {points}, {seeds}.",
            f"About {time} of processor time on this machine.",
        ]

    def command(self, source: str) -> list[str]:
        """Return the arguments of the command, without shard and directory."""
        return ["incast", "run", source, *self.options]


def shards_for(scenario: Scenario, cpus: int) -> int:
    """Return the number of shards that take about an hour each, at most as many as runs."""
    runs = len(scenario.plan.distinct) * len(scenario.plan.seeds)
    hours = forecast(scenario, jobs=1).seconds / 3600 / cpus
    return max(min(ceil(hours / SHARD_HOURS), MOST_SHARDS, runs), 1)


def check(scenario: Scenario, shards: int) -> None:
    """Refuse a scenario that cannot be cut into this number of shards.

    Raises
    ------
    ResultsError
        The scenario has a precision, or fewer runs than shards.
    """
    if scenario.plan.precision is not None:
        raise ResultsError(
            "shards: cannot be combined with run.precision; use dask, or fixed seeds"
        )
    runs = len(scenario.plan.distinct) * len(scenario.plan.seeds)
    if shards > runs:
        raise ResultsError(f"shards: {shards} are more than the {runs} runs; must be 1 to {runs}")


def slurm(task: Task) -> str:
    """Return a script for `sbatch`: an array with a shard per task."""
    hours, minutes = divmod(task.minutes, 60)
    parts, every = _parts(task)
    run = _quoted(task.command(_source(task)))
    merge = f"incast merge {_quoted([task.out])}{every}"
    lines = [
        "#!/bin/bash",
        f"#SBATCH --job-name={task.name}",
        f"#SBATCH --array=1-{task.shards}",
        "#SBATCH --ntasks=1",
        f"#SBATCH --cpus-per-task={task.cpus}",
        f"#SBATCH --mem={task.memory}M",
        f"#SBATCH --time={hours}:{minutes:02}:00",
        "#SBATCH --requeue",
        f"#SBATCH --output={task.name}-%A-%a.log",
        "",
        *(f"# {line}" for line in task.about()),
        "# Any part may be repeated: sbatch --array=3,7 FILE. When all parts have ended:",
        f"#   {merge}",
        "",
        "set -euo pipefail",
        'part="$SLURM_ARRAY_TASK_ID"',
        f'srun {run} --shard "$part/{task.shards}" --out {parts} --jobs "$SLURM_CPUS_PER_TASK"',
    ]
    return "\n".join(lines) + "\n"


def kubernetes(task: Task, image: str, claim: str) -> str:
    """Return a manifest for `kubectl apply`: the scenario, and a Job with a shard per index.

    Raises
    ------
    ResultsError
        The scenario reads other files, or is too large for a ConfigMap; or `out` is not an
        absolute path below a folder.
    """
    text = _text(task)
    here = not _is_address(task.out)
    if here and (not Path(task.out).is_absolute() or Path(task.out).parent == Path("/")):
        raise ResultsError(
            f"{task.out}: must be an absolute path below a volume, such as /data/results, or an "
            "address such as s3://bucket/results"
        )
    parts, every = _parts(task)
    run = _quoted(task.command("/scenario/scenario.toml"))
    script = (
        f'part=$((JOB_COMPLETION_INDEX + 1)); exec {run} --shard "$part/{task.shards}" '
        f"--out {parts} --jobs {task.cpus}"
    )
    mounts = [{"name": "scenario", "mountPath": "/scenario", "readOnly": True}]
    volumes: list[dict[str, object]] = [{"name": "scenario", "configMap": {"name": task.name}}]
    if here:
        mounts.append({"name": "results", "mountPath": str(Path(task.out).parent)})
        volumes.append({"name": "results", "persistentVolumeClaim": {"claimName": claim}})
    need = {"cpu": str(task.cpus), "memory": f"{task.memory}Mi"}
    container = {
        "name": "incast",
        "image": image,
        "command": ["/bin/sh", "-c", script],
        "resources": {"requests": need, "limits": {"memory": need["memory"]}},
        "volumeMounts": mounts,
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": task.name},
        "spec": {
            "completionMode": "Indexed",
            "completions": task.shards,
            "parallelism": task.shards,
            "backoffLimit": 3 * task.shards,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                    "volumes": volumes,
                }
            },
        },
    }
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": task.name},
        "data": {"scenario.toml": text},
    }
    merge = f"incast merge {_quoted([task.out])}{every}"
    about = [*task.about(), "Failed and evicted pods are repeated. When all pods have ended:"]
    head = "".join(f"# {line}\n" for line in [*about, f"  {merge}"])
    return f"{head}{_yaml(config)}---\n{_yaml(job)}"


def dask(task: Task) -> str:
    """Return a shell script that runs the sweep on a scheduler, or starts one with workers."""
    run = _quoted([*task.command(_source(task)), "--out", task.out])
    lines = [
        "#!/bin/bash",
        *(f"# {line}" for line in task.about()),
        "# With SCHEDULER=tcp://host:8786, this script uses the cluster of that scheduler.",
        "# Otherwise it starts a scheduler and WORKERS processes here; other machines may join",
        "# the scheduler with:",
        "#   dask worker tcp://HOST:8786 --nworkers 4 --nthreads 1",
        "",
        "set -euo pipefail",
        'if [ -z "${SCHEDULER:-}" ]; then',
        '  port="${PORT:-8786}"',
        '  dask scheduler --port "$port" --no-dashboard --no-show &',
        "  started=$!",
        '  trap "kill $started; wait" EXIT',
        '  SCHEDULER="tcp://$HOSTNAME:$port"',
        f'  dask worker "$SCHEDULER" --nworkers "${{WORKERS:-{task.cpus}}}" --nthreads 1 \\',
        "    --no-dashboard &",
        '  started="$started $!"',
        '  trap "kill $started; wait" EXIT',
        "fi",
        f'{run} --executor "$SCHEDULER"',
    ]
    return "\n".join(lines) + "\n"


def _parts(task: Task) -> tuple[str, str]:
    """Return a part's directory, and the arguments of `incast merge` after the merged directory."""
    if _is_address(task.out):  # writers to an object store need no locks, so they can share it
        return _quoted([task.out]), ""
    folder = _quoted([f"{task.out}.parts"])
    return f'{folder}/"$part"', f" {folder}/*"


def _source(task: Task) -> str:
    """Return the scenario as a task finds it: an absolute path, or a shipped scenario's name."""
    return str(task.source.resolve() if task.source.exists() else task.source)


def _text(task: Task) -> str:
    text = text_of(located(task.source))
    if Scenario(read(text)).plan.fingerprint != _unchanged(task).plan.fingerprint:
        raise ResultsError(
            f"{task.source}: reads other files, which a ConfigMap does not contain; write their "
            "points into the scenario"
        )
    if len(text.encode()) > _MOST_CONFIG * 9 // 10:
        raise ResultsError(f"{task.source}: is too large for a ConfigMap of 1 MiB")
    return text


def _unchanged(task: Task) -> Scenario:
    from incast.scenario import load

    return load(task.source)


def _flows(here: Resolved) -> int:
    return max(here.flows, 1)


def _quoted(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


def _is_address(out: str) -> bool:
    return "://" in out


def _yaml(tree: Mapping[str, object]) -> str:
    """Write a tree as YAML: tables and lists of tables as blocks, other values as in JSON."""
    return "".join(f"{line}\n" for line in _lines(tree))


def _lines(tree: Mapping[str, object]) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{key}:"
            yield from (f"  {line}" for line in _lines(value))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{key}:"
            for one in value:
                first, *others = _lines(one)
                yield f"  - {first}"
                yield from (f"    {line}" for line in others)
        elif isinstance(value, str) and _block(value):
            yield f"{key}: |"
            yield from (f"  {line}" if line else "" for line in value.split("\n")[:-1])
        else:
            yield f"{key}: {json.dumps(value, ensure_ascii=False)}"


def _block(text: str) -> bool:
    """Return whether a YAML literal block can hold a text: it must end with one line feed."""
    whole = text.endswith("\n") and not text.endswith("\n\n") and text[0] not in " \n"
    return whole and all(letter.isprintable() or letter == "\n" for letter in text)
