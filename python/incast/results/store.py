"""Where results are kept: in memory, or in a directory that outlives the process.

A directory holds `manifest.json` and one part file per run and table, named by the run's key.
A part is written under a temporary name and renamed when whole, so a reader of the folder never
meets half a file, and an interrupted sweep goes on where it stopped.
"""

import json
import os
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from incast import _core
from incast.errors import ResultsError
from incast.results import frames
from incast.results.traces import KINDS
from incast.scenario import Scenario
from incast.scenario.plan import Job, Plan

ROWS = "runs"
FORMAT = 1  # of the manifest


class Store(Protocol):
    """What a sweep needs of the place that keeps its results."""

    def has(self, job: Job, traces: Sequence[str]) -> bool:
        """Say whether the run is kept, with the traces asked for."""

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Keep what the core returned for a run. May be called from several threads."""

    def part(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one table of one run: `runs`, `events`, `queues` or `flows`."""

    def close(self, status: str) -> None:
        """Note how the sweep ended: `complete` or `interrupted`."""

    def __len__(self) -> int:
        """Count the runs of the plan that are kept."""


class Memory:
    """Keeps results as long as the process lives.

    Parameters
    ----------
    plan
        What is being run.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._parts: dict[tuple[str, str], pl.DataFrame] = {}

    def has(self, job: Job, traces: Sequence[str]) -> bool:
        """Say whether the tables of a run are there."""
        return all((table, job.key) in self._parts for table in _wanted(traces))

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Keep the tables of a run."""
        for table, frame in _tables(job, output).items():
            self._parts[table, job.key] = frame

    def part(self, table: str, job: Job) -> pl.DataFrame | None:
        """Return one table of one run."""
        return self._parts.get((table, job.key))

    def close(self, status: str) -> None:
        """Do nothing: there is no manifest."""

    def __len__(self) -> int:
        """Count the runs."""
        return sum(table == ROWS for table, _ in self._parts)


class Directory:
    """Keeps results in a directory.

    Parameters
    ----------
    path
        The directory.
    manifest
        The tree of its `manifest.json`.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
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
        plan = scenario.plan
        known = _read_manifest(path)
        if known is None:
            if path.is_dir() and any(path.iterdir()):
                raise ResultsError(f"{path}: exists and holds no results; choose another directory")
        else:
            _check_same(path, known, plan, traces)
        manifest = _new_manifest(scenario, traces)
        if known is not None:
            manifest["plan"]["seeds"] = sorted({*known["plan"]["seeds"], *plan.seeds})
            manifest["traces"] = sorted({*known["traces"], *traces})
            manifest["started"], manifest["wall_s"] = known["started"], known["wall_s"]
        store = cls(path, manifest)
        try:
            for table in _wanted(traces):
                (path / table).mkdir(parents=True, exist_ok=True)
            store._write_manifest()
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

    def has(self, job: Job, traces: Sequence[str]) -> bool:
        """Say whether the part files of a run are there."""
        return all(self._file(table, job).exists() for table in _wanted(traces))

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Write the part files of a run, its rows last: they say that the run is whole."""
        tables = _tables(job, output)
        for table in sorted(tables, key=lambda table: table == ROWS):
            file = self._file(table, job)
            temporary = file.with_suffix(f".{os.getpid()}.tmp")
            try:
                tables[table].write_parquet(temporary)
                temporary.replace(file)
            except BaseException:  # polars, too, ends at Ctrl-C
                temporary.unlink(missing_ok=True)
                raise

    def part(self, table: str, job: Job) -> pl.DataFrame | None:
        """Read one table of one run."""
        file = self._file(table, job)
        return pl.read_parquet(file) if file.exists() else None

    def close(self, status: str) -> None:
        """Write the manifest for the last time."""
        self.manifest["status"] = status
        self.manifest["wall_s"] += round(time.monotonic() - self._started, 3)
        self._write_manifest()

    def __len__(self) -> int:
        """Count the runs of the plan that are there."""
        return sum(self._file(ROWS, job).exists() for job in self.plan.jobs())

    def _file(self, table: str, job: Job) -> Path:
        return self.path / table / f"{job.key}.parquet"

    def _write_manifest(self) -> None:
        temporary = self.path / f"manifest.{os.getpid()}.tmp"
        temporary.write_text(json.dumps(self.manifest, indent=1, default=str) + "\n")
        temporary.replace(self.path / "manifest.json")


def _wanted(traces: Sequence[str]) -> list[str]:
    return [ROWS, *(KINDS[name.removesuffix(":full")].table for name in traces)]


def _tables(job: Job, output: dict[str, Any]) -> dict[str, pl.DataFrame]:
    tables = {ROWS: frames.rows(job, output)}
    for kind in KINDS.values():
        if output.get(kind.table) is not None:
            tables[kind.table] = frames.trace(job, output[kind.table])
    return tables


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
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ResultsError(f"{file}: not a manifest that this version of incast can read")
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
            table: json.loads(_core.columns("rows" if table == ROWS else table))
            for table in (ROWS, *(kind.table for kind in KINDS.values()))
        },
        "plan": plan.to_dict(),
    }
