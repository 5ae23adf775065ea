"""Where results are kept: in memory, or in a directory that outlives the process.

A directory holds `manifest.json`, which says what was asked for, and an `Archive` of the runs. An
interrupted sweep goes on where it stopped, and several processes may share a directory.
"""

import json
import os
import platform
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from incast import _core
from incast.errors import ResultsError
from incast.results import files, frames
from incast.results.archive import Archive, tables
from incast.results.frames import ROWS
from incast.results.traces import KINDS
from incast.scenario import Scenario
from incast.scenario.plan import Job, Plan

FORMAT = 2  # of the directory

_KEY = {"name": frames.KEY, "unit": "", "description": "key of the run, the name of its parts"}
_BLOCKS = {
    "name": frames.COMPLETIONS,
    "unit": "s",
    "description": "completion times of all blocks, in their order",
}


class Store(Protocol):
    """What a sweep needs of the place that keeps its results."""

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Say whether the run is kept, with the traces asked for."""

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Keep what the core returned for a run. May be called from several threads."""

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of those of the runs that are kept, with their keys."""

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one trace of one run: `events`, `queues` or `flows`."""


class Memory:
    """Keeps results as long as the process lives."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, str], pl.DataFrame] = {}

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Say whether the tables of a run are there."""
        return all((table, job.key) in self._parts for table in tables(traces))

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Keep the tables of a run."""
        for table, frame in frames.tables(job, output).items():
            self._parts[table, job.key] = frame

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of the runs that are there."""
        keys = dict.fromkeys(job.key for job in jobs)
        found = [self._parts[ROWS, key] for key in keys if (ROWS, key) in self._parts]
        return pl.concat(found, how="diagonal_relaxed") if found else None

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one trace of one run."""
        return self._parts.get((table, job.key))

    def close(self, status: str) -> None:
        """Do nothing: there is no manifest."""


class Directory(Archive):
    """An archive with a manifest: the results of one scenario.

    Parameters
    ----------
    path
        The directory.
    manifest
        The tree of its `manifest.json`.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        super().__init__(path)
        self.manifest = manifest
        self.plan = Plan.from_tree(manifest["plan"], manifest["engine"])
        self._started = time.monotonic()

    @classmethod
    def create(cls, path: Path, scenario: Scenario, traces: Sequence[str]) -> "Directory":
        """Make the directory, or take up one that holds results of the same scenario.

        Raises
        ------
        ResultsError
            It cannot be written to, or holds something else.
        """
        check(path, scenario, traces)
        store = cls(path, _new_manifest(scenario, traces))
        try:
            path.mkdir(parents=True, exist_ok=True)
            files.sweep_up(path)
            store._update_manifest()
            store.prepare(traces)
        except OSError as error:
            raise ResultsError(f"{path}: cannot be written to: {error.strerror}") from None
        return store

    @classmethod
    def open(cls, path: Path) -> "Directory":
        """Open a directory that an earlier run made.

        Raises
        ------
        ResultsError
            There is no such directory, or it holds no results.
        """
        manifest = _read_manifest(path)
        if manifest is None:
            why = "holds no results (no manifest.json)" if path.is_dir() else "no such directory"
            raise ResultsError(f"{path}: {why}")
        return cls(path, manifest)

    def close(self, status: str) -> None:
        """Write the manifest for the last time."""
        self.manifest["status"] = status
        self._update_manifest(round(time.monotonic() - self._started, 3))

    def _update_manifest(self, seconds: float = 0.0) -> None:
        """Write the manifest, with what other processes have written to it meanwhile."""
        with files.locked(self.path):
            known = _read_manifest(self.path)
            if known is not None:
                seeds = {*known["plan"]["seeds"], *self.manifest["plan"]["seeds"]}
                self.manifest["plan"]["seeds"] = sorted(seeds)
                self.manifest["traces"] = sorted({*known["traces"], *self.manifest["traces"]})
                self.manifest["started"] = known["started"]
                self.manifest["wall_s"] = known["wall_s"]
            self.manifest["wall_s"] = round(self.manifest["wall_s"] + seconds, 3)
            text = json.dumps(self.manifest, indent=1, default=str) + "\n"
            files.write_whole(self.path / "manifest.json", text.encode())


def check(path: Path, scenario: Scenario, traces: Sequence[str]) -> None:
    """Refuse a directory in which the results of a scenario cannot be kept.

    Raises
    ------
    ResultsError
        It holds something else, or what another engine or scenario gave.
    """
    if not path.is_dir():
        return
    with files.locked(path):  # another process may be making it
        known = _read_manifest(path)
        empty = all(files.is_temporary(file) for file in path.iterdir())
    if known is not None:
        _check_same(path, known, scenario.plan, traces)
    elif not empty:
        raise ResultsError(f"{path}: exists and holds no results; choose another directory")


def _read_manifest(path: Path) -> dict[str, Any] | None:
    file = path / "manifest.json"
    try:
        manifest: Any = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from None
    except ValueError:
        raise ResultsError(f"{file}: not a manifest of incast") from None
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise ResultsError(f"{file}: not a manifest of incast")
    if manifest["format"] != FORMAT:
        raise ResultsError(
            f"{file}: of format {manifest['format']}, and this version of incast reads {FORMAT}; "
            "run it again, into another directory"
        )
    return dict(manifest)


def _check_same(path: Path, known: dict[str, Any], plan: Plan, traces: Sequence[str]) -> None:
    title = known["plan"]["points"][0]["resolved"].get("title") or "without a title"
    if known["engine"] != plan.engine:
        raise ResultsError(
            f"{path}: made by engine {known['engine']}, this is {plan.engine}; "
            "choose another directory"
        )
    if known["fingerprint"] != plan.fingerprint:
        raise ResultsError(
            f"{path}: holds the results of another scenario ({title}); choose another directory"
        )
    for name in traces:
        other = name.removesuffix(":full") if name.endswith(":full") else f"{name}:full"
        if other in known["traces"]:
            raise ResultsError(f"{path}: holds the trace {other}, not {name}; choose another one")


def _new_manifest(scenario: Scenario, traces: Sequence[str]) -> dict[str, Any]:
    from incast import __version__

    plan = scenario.plan
    return {
        "format": FORMAT,
        "incast": __version__,
        "engine": plan.engine,
        "status": "running",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "wall_s": 0.0,
        "host": {"system": platform.platform(), "processors": os.cpu_count()},
        "source": scenario.source,
        "scenario": scenario.document,
        "fingerprint": plan.fingerprint,
        "traces": list(traces),
        "columns": {
            ROWS: [_KEY, *json.loads(_core.columns("rows")), _BLOCKS],
            **{kind.table: json.loads(_core.columns(kind.table)) for kind in KINDS.values()},
        },
        "plan": plan.to_dict(),
    }
