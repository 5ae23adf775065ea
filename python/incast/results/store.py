"""The storage of results: in memory, or in a directory.

A directory contains `manifest.json`, which describes the request, and an `Archive` of the runs. An
interrupted sweep continues where it stopped, and several processes may share a directory.
"""

import json
import os
import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from incast.errors import ResultsError
from incast.results import described, files, frames, manifest, times
from incast.results.archive import Archive, tables
from incast.results.frames import KEY, Run
from incast.scenario import Scenario
from incast.scenario.plan import Job, Plan

_GATHERED = 200  # batches per table; a table of one row needs 60 times the memory of its data


class Store(Protocol):
    """The interface of a storage of results.

    Several threads store traces. One thread stores rows, in batches, after the traces of their
    runs.
    """

    @property
    def pace(self) -> float:
        """Seconds between two batches."""

    def expect(self, jobs: Sequence[Job], first: int = 0) -> None:
        """Announce runs in the order of the plan, in which the first run has the index `first`.

        Each missing run will be stored or passed over.
        """

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether the run is stored, with the requested traces."""

    def put_part(self, job: Job, table: str, number: int, columns: dict[str, Any]) -> None:
        """Store part `number` of a trace, counted from 1; later, `put_traces` stores the last part.

        May be called from several threads, but only from one thread for each run.
        """

    def put_traces(self, run: Run) -> None:
        """Store the traces of a run. May be called from several threads."""

    def put(self, runs: Sequence[Run]) -> None:
        """Store the rows of runs; the rows are safe when `put` returns."""

    def pass_over(self, jobs: Iterable[Job]) -> None:
        """Stop expecting runs, because another process has stored them."""

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of the stored runs, with their keys."""

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one trace of one run: `events`, `queues` or `flows`."""


class Memory:
    """Stores results until the process ends."""

    def __init__(self) -> None:
        self._traces: dict[tuple[str, str], pl.DataFrame] = {}
        self._parts: dict[tuple[str, str], list[pl.DataFrame]] = {}  # parts of unfinished runs
        self._rows: list[pl.DataFrame] = []  # tables of many runs each
        self._loose: list[pl.DataFrame] = []  # tables of few runs each
        self._seconds: dict[str, float] = {}  # of the runs whose rows are stored
        self.pace = 0.0

    def expect(self, jobs: Sequence[Job], first: int = 0) -> None:
        """Do nothing: there are no packs."""

    def widen(self, seeds: Sequence[int]) -> None:
        """Do nothing: there is no manifest."""

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether the tables of a run are stored."""
        return job.key in self._seconds and all(
            (table, job.key) in self._traces for table in tables(traces)[1:]
        )

    def put_part(self, job: Job, table: str, number: int, columns: dict[str, Any]) -> None:
        """Store a part of a trace."""
        parts = self._parts.setdefault((table, job.key), [])
        del parts[number - 1 :]  # left by an earlier, cancelled attempt at the run
        parts.append(frames.trace(job, columns))

    def put_traces(self, run: Run) -> None:
        """Store the traces of a run."""
        for table, frame in frames.traces(run).items():
            parts = self._parts.pop((table, run.job.key), [])
            self._traces[table, run.job.key] = pl.concat([*parts, frame])

    def put(self, runs: Sequence[Run]) -> None:
        """Store the rows of runs."""
        new = {run.job.key: run for run in runs if run.job.key not in self._seconds}
        if not new:
            return
        self._loose.append(frames.rows(list(new.values())))
        self._seconds.update({key: frames.seconds(run) for key, run in new.items()})
        if len(self._loose) >= _GATHERED:
            self._gather()

    def add(self, rows: pl.DataFrame, seconds: Mapping[str, float]) -> None:
        """Store rows that were read elsewhere, and the times of their runs."""
        self._loose.append(rows)
        self._seconds.update(seconds)

    def pass_over(self, jobs: Iterable[Job]) -> None:
        """Do nothing: there is no other process."""

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Return the rows of the stored runs."""
        self._gather()
        if not self._rows:
            return None
        wanted = pl.DataFrame({KEY: list({job.key for job in jobs})}, schema={KEY: pl.String})
        every = pl.concat(self._rows, how="diagonal_relaxed")
        seconds = times.frame(self._seconds)
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
        The content of the directory's `manifest.json`.
    """

    def __init__(self, path: Path, told: dict[str, Any]) -> None:
        super().__init__(path)
        self.manifest = told
        self.plan = Plan.from_tree(told["plan"], told["engine"])
        self._started = time.monotonic()

    @classmethod
    def create(cls, path: Path, scenario: Scenario, traces: Sequence[str]) -> "Directory":
        """Create the directory, or continue a directory with results of the same scenario.

        Raises
        ------
        ResultsError
            The directory cannot be written to, or contains other files or results.
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

    def widen(self, seeds: Sequence[int]) -> None:
        """Add seeds to the manifest."""
        if list(seeds) == self.manifest["plan"]["seeds"]:
            return
        self.manifest["plan"]["seeds"] = list(seeds)
        self._update_manifest()
        self.plan = replace(self.plan, seeds=self.manifest["plan"]["seeds"])

    def close(self, status: str) -> None:
        """Write the manifest for the last time."""
        self.manifest["status"] = status
        self._update_manifest(round(time.monotonic() - self._started, 3))

    def _update_manifest(self, seconds: float = 0.0) -> None:
        """Write the manifest, merged with the changes of other processes."""
        with files.locked(self.path):
            known = manifest.read(self.path)
            if known is not None:
                ours = self.manifest["plan"]
                ours["seeds"] = united([known["plan"]["seeds"], ours["seeds"]])
                self.manifest["traces"] = sorted({*known["traces"], *self.manifest["traces"]})
                for key in ("format", "started", "wall_s"):
                    self.manifest[key] = known[key]
            self.manifest["wall_s"] = round(self.manifest["wall_s"] + seconds, 3)
            self._write_manifest()

    def seal(self, status: str) -> None:
        """Write the manifest as it is, without changes of other processes."""
        self.manifest["status"] = status
        with files.locked(self.path):
            self._write_manifest()

    def _write_manifest(self) -> None:
        text = json.dumps(self.manifest, indent=1, default=str) + "\n"
        files.write_whole(self.path / "manifest.json", text.encode())


def check(path: Path, scenario: Scenario, traces: Sequence[str]) -> None:
    """Refuse a directory that cannot store the results of a scenario.

    Raises
    ------
    ResultsError
        The directory contains other files, or results of another engine or scenario.
    """
    if not path.is_dir():
        return
    with files.locked(path):  # another process may be creating the directory
        known = manifest.read(path)
        empty = all(files.is_temporary(file) for file in path.iterdir())
    if known is not None:
        check_same(path, known, scenario.plan, traces)
    elif not empty:
        raise ResultsError(f"{path}: exists but contains no results; choose another directory")


def check_same(path: Path, known: dict[str, Any], plan: Plan, traces: Sequence[str]) -> None:
    """Refuse a directory whose manifest `known` does not fit a plan.

    Raises
    ------
    ResultsError
        The directory has results of another engine or scenario, or a trace in another form.
    """
    title = known["plan"]["points"][0]["resolved"].get("title") or "without a title"
    if known["engine"] != plan.engine:
        raise ResultsError(
            f"{path}: written by engine {known['engine']}, but this version of incast has engine "
            f"{plan.engine}; choose another directory"
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


def united(seeds: Sequence[Sequence[int]]) -> list[int]:
    """Return all seeds of several plans: in the first plan's order if it has all, else sorted."""
    every = {*chain(*seeds)}
    return list(seeds[0]) if len(seeds[0]) == len(every) else sorted(every)


def combined(path: Path, stores: Sequence[Directory]) -> Directory:
    """Create a directory for the runs of several directories, or use the directory at `path`.

    Raises
    ------
    ResultsError
        The directory cannot be written to.
    """
    trees = [store.manifest for store in stores]
    seeds = united([tree["plan"]["seeds"] for tree in trees])
    told = {
        **trees[0],
        "started": min(tree["started"] for tree in trees),
        "wall_s": round(sum(tree["wall_s"] for tree in trees), 3),
        "traces": sorted({name for tree in trees for name in tree["traces"]}),
        "plan": {**trees[0]["plan"], "seeds": seeds},
    }
    target = Directory(path, told)
    for store in stores:
        store.look()
    try:
        path.mkdir(parents=True, exist_ok=True)
        files.sweep_up(path)
        target.prepare(told["traces"])
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written to: {error.strerror}") from None
    return target


def _new_manifest(scenario: Scenario, traces: Sequence[str]) -> dict[str, Any]:
    from incast import __version__

    plan = scenario.plan
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
            times.TABLE: times.COLUMNS,
            **{table: described.columns(table) for table in described.TABLES},
        },
        "plan": plan.to_dict(),
    }
