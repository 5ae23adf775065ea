"""The storage of results: in memory, or in a directory.

A directory contains `manifest.json`, which describes the request, and an `Archive` of the runs. An
interrupted sweep continues where it stopped, and several processes may share a directory.
"""

import json
import os
import platform
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import polars as pl

from incast import _core
from incast.errors import ResultsError
from incast.results import files, frames, manifest, times
from incast.results.archive import Archive, tables
from incast.results.frames import KEY, ROWS, WALL
from incast.results.traces import KINDS
from incast.scenario import Scenario
from incast.scenario.plan import Job, Plan

_GATHERED = 200  # runs in memory that become one table: a table of one row takes 60 times its data

_KEY = {"name": frames.KEY, "unit": "", "description": "key of the run, which names its parts"}
_BLOCKS = {
    "name": frames.COMPLETIONS,
    "unit": "s",
    "description": "completion times of all blocks, in order",
}


class Store(Protocol):
    """The interface of a storage of results."""

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether the run is stored, with the requested traces."""

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Store the output of the core for a run. May be called from several threads."""

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of the stored runs, with their keys."""

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one trace of one run: `events`, `queues` or `flows`."""


class Memory:
    """Stores results until the process ends."""

    def __init__(self) -> None:
        self._kept: set[tuple[str, str]] = set()
        self._traces: dict[tuple[str, str], pl.DataFrame] = {}
        self._rows: list[pl.DataFrame] = []  # of many runs each
        self._loose: list[pl.DataFrame] = []  # of one run each
        self._seconds: dict[str, float] = {}
        self._gathering = Lock()

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether the tables of a run are stored."""
        return all((table, job.key) in self._kept for table in tables(traces))

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Store the tables of a run."""
        parts = frames.tables(job, output)
        with self._gathering:
            if (ROWS, job.key) not in self._kept:
                self._seconds[job.key] = frames.seconds(output)
                self._loose.append(parts[ROWS])
            if len(self._loose) >= _GATHERED:
                self._gather()
            for table, frame in parts.items():
                self._kept.add((table, job.key))
                if table != ROWS:
                    self._traces[table, job.key] = frame

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of the stored runs."""
        with self._gathering:
            self._gather()
            found = list(self._rows)
            seconds = times.frame(self._seconds)
        if not found:
            return None
        wanted = pl.DataFrame({KEY: list({job.key for job in jobs})}, schema={KEY: pl.String})
        every = pl.concat(found, how="diagonal_relaxed")
        return times.joined(every.join(wanted, on=KEY, how="semi"), seconds)

    def _gather(self) -> None:
        if self._loose:
            self._rows.append(pl.concat(self._loose, how="diagonal_relaxed").rechunk())
            self._loose = []

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one trace of one run."""
        return self._traces.get((table, job.key))

    def close(self, status: str) -> None:
        """Do nothing: there is no manifest."""


class Directory(Archive):
    """An archive with a manifest: the results of one scenario.

    Parameters
    ----------
    path
        The directory.
    told
        The tree of its `manifest.json`.
    """

    def __init__(self, path: Path, told: dict[str, Any]) -> None:
        super().__init__(path)
        self.manifest = told
        self.plan = Plan.from_tree(told["plan"], told["engine"])
        self._started = time.monotonic()

    @classmethod
    def create(cls, path: Path, scenario: Scenario, traces: Sequence[str]) -> "Directory":
        """Create the directory, or continue one with results of the same scenario.

        Raises
        ------
        ResultsError
            It cannot be written to, or contains something else.
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
        """Open the directory of an earlier run.

        Raises
        ------
        ResultsError
            There is no such directory, it contains no results, or its manifest was changed.
        """
        told = manifest.read(path)
        if told is None:
            why = "contains no results (no manifest.json)" if path.is_dir() else "no such directory"
            raise ResultsError(f"{path}: {why}")
        store = cls(path, told)
        manifest.check_plan(path, told, store.plan)
        return store

    def close(self, status: str) -> None:
        """Write the manifest for the last time."""
        self.manifest["status"] = status
        self._update_manifest(round(time.monotonic() - self._started, 3))

    def _update_manifest(self, seconds: float = 0.0) -> None:
        """Write the manifest, merged with the changes of other processes."""
        with files.locked(self.path):
            known = manifest.read(self.path)
            if known is not None:
                seeds = {*known["plan"]["seeds"], *self.manifest["plan"]["seeds"]}
                self.manifest["plan"]["seeds"] = sorted(seeds)
                self.manifest["traces"] = sorted({*known["traces"], *self.manifest["traces"]})
                for key in ("format", "started", "wall_s"):
                    self.manifest[key] = known[key]
            self.manifest["wall_s"] = round(self.manifest["wall_s"] + seconds, 3)
            text = json.dumps(self.manifest, indent=1, default=str) + "\n"
            files.write_whole(self.path / "manifest.json", text.encode())


def check(path: Path, scenario: Scenario, traces: Sequence[str]) -> None:
    """Refuse a directory that cannot store the results of a scenario.

    Raises
    ------
    ResultsError
        It contains something else, or results of another engine or scenario.
    """
    if not path.is_dir():
        return
    with files.locked(path):  # another process may be making it
        known = manifest.read(path)
        empty = all(files.is_temporary(file) for file in path.iterdir())
    if known is not None:
        _check_same(path, known, scenario.plan, traces)
    elif not empty:
        raise ResultsError(f"{path}: exists but contains no results; choose another directory")


def _check_same(path: Path, known: dict[str, Any], plan: Plan, traces: Sequence[str]) -> None:
    title = known["plan"]["points"][0]["resolved"].get("title") or "without a title"
    if known["engine"] != plan.engine:
        raise ResultsError(
            f"{path}: written by engine {known['engine']}, but this is {plan.engine}; "
            "choose another directory"
        )
    if known["fingerprint"] != plan.fingerprint:
        raise ResultsError(
            f"{path}: contains the results of another scenario ({title}); choose another directory"
        )
    for name in traces:
        other = name.removesuffix(":full") if name.endswith(":full") else f"{name}:full"
        if other in known["traces"]:
            raise ResultsError(
                f"{path}: contains the trace {other}, not {name}; choose another directory"
            )


def _new_manifest(scenario: Scenario, traces: Sequence[str]) -> dict[str, Any]:
    from incast import __version__

    plan = scenario.plan
    rows = [column for column in json.loads(_core.columns("rows")) if column["name"] != WALL]
    return {
        "format": manifest.FORMAT,
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
            ROWS: [_KEY, *rows, _BLOCKS],
            times.TABLE: times.COLUMNS,
            **{kind.table: json.loads(_core.columns(kind.table)) for kind in KINDS.values()},
        },
        "plan": plan.to_dict(),
    }
