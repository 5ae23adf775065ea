"""A folder of runs by key: one part file per run, gathered into packs.

`runs/` holds the rows, `events/`, `queues/` and `flows/` the traces of the runs that have them. A
part is called `<key>.parquet` and is written when its run is done. Rows are written last, and mark
the run as complete. As soon as `PACK` parts of rows have gathered they are written to one pack,
`pack-<hash of the keys>.parquet`, and removed, so that a million runs are about a thousand files.
The column `run` holds the key in both: the index of a pack is in the pack. The time that a run took
differs between two runs of a seed and is stored separately (`incast.results.times`).

Every file is complete or absent and has a checksum (`incast.results.seal`). A part is removed only
after the pack that contains it is written. A process may therefore be killed at any time, and
others may read and write the same folder. At worst, a run is stored twice, and it counts once.
"""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from incast.errors import ResultsError
from incast.results import files, frames, seal
from incast.results.frames import KEY, ROWS
from incast.results.times import Times, joined
from incast.results.traces import KINDS
from incast.scenario.plan import Job

PACK = 1000  # parts of rows that make a pack

_ATTEMPTS = 5  # at reading a folder that another process packs meanwhile
_STALE = 2.0  # seconds after which the folder is looked at again, for what others have put


class Archive:
    """Runs by key, in a folder.

    Parameters
    ----------
    path
        The folder; created when the first run is stored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._times = Times(path)
        self._kept: dict[str, Path | None] = {}  # keys seen or written, and the pack that has them
        self._packs: set[Path] = set()  # those whose keys are among them
        self._loose = 0  # parts in the folder, about
        self._looked = -_STALE  # when the folder was last looked at
        self._counting, self._packing = Lock(), Lock()

    def prepare(self, traces: Sequence[str]) -> None:
        """Create the folders for rows and `traces`, without temporary files of killed processes.

        Raises
        ------
        ResultsError
            A part is damaged. This must be reported before anything runs.
        """
        for table in tables(traces):
            (self.path / table).mkdir(parents=True, exist_ok=True)
            files.sweep_up(self.path / table)
        for part in self._listing()[1]:
            with suppress(FileNotFoundError):  # packed meanwhile, by somebody else
                _part_of_rows(part)

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether a run is stored, with the requested traces."""
        kept = job.key in self._keys() or self._part(ROWS, job.key).exists()
        return kept and all(self._part(table, job.key).exists() for table in tables(traces)[1:])

    def put(self, job: Job, output: dict[str, Any]) -> None:
        """Write the parts of a run, its rows last. May be called from several threads."""
        parts = frames.tables(job, output)
        for table in sorted(parts, key=lambda table: table == ROWS):
            file = self._part(table, job.key)
            if table == ROWS:
                self._times.put(job.key, frames.seconds(output))
            files.write_whole(file, seal.parquet(parts[table], file, statistics=False))
        self._kept[job.key] = None
        with self._counting:
            self._loose += 1
            enough = self._loose >= PACK
        if enough:
            self.pack()

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Read one trace of one run: `events`, `queues` or `flows`."""
        file = self._part(table, job.key)
        return seal.read(file) if file.exists() else None

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Read the rows of the stored runs, in any order."""
        wanted = {job.key for job in jobs}
        for _ in range(_ATTEMPTS):
            self._look()
            kept = [key for key in wanted if key in self._kept]
            packs = sorted({pack for key in kept if (pack := self._kept[key]) is not None})
            parts = [self._part(ROWS, key) for key in kept if self._kept[key] is None]
            try:
                found = [seal.read(pack) for pack in packs] + [_part_of_rows(it) for it in parts]
            except FileNotFoundError:  # packed meanwhile, by somebody else
                for part in parts:
                    if not part.exists():
                        self._kept.pop(part.stem, None)
                continue
            rows = _distinct(found, pl.Series(KEY, sorted(wanted), pl.String))
            return joined(rows, self._times.read()) if rows is not None else None
        raise ResultsError(f"{self.path / ROWS}: changed while it was read; try again")

    def pack(self) -> None:
        """Gather the parts of rows into a pack, if there are enough."""
        if not self._packing.acquire(blocking=False):
            return
        try:
            with files.locked(self.path / ROWS):
                self._look()
                _, parts = self._listing()
                if len(parts) >= PACK:
                    self._pack(parts)
        except FileNotFoundError:  # removed by somebody who heeds no lock
            pass
        finally:
            self._packing.release()

    def _pack(self, parts: list[Path]) -> None:
        everything = pl.concat([_part_of_rows(part) for part in parts], how="diagonal_relaxed")
        keys = sorted(part.stem for part in parts)
        name = blake2b("".join(keys).encode(), digest_size=16).hexdigest()
        pack = self.path / ROWS / f"pack-{name}.parquet"
        files.write_whole(pack, seal.parquet(everything, pack), durable=True)
        for part in parts:
            part.unlink(missing_ok=True)
        with self._counting:
            self._loose -= len(parts)

    def _keys(self) -> dict[str, Path | None]:
        """Return the keys that are known to be stored; other processes may have added more."""
        if time.monotonic() >= self._looked + _STALE:
            self._look()
        return self._kept

    def _look(self) -> None:
        """Read the contents of the folder."""
        self._looked = time.monotonic()
        with self._counting:
            packs, parts = self._listing()
            self._loose = len(parts)
        for part in parts:
            self._kept.setdefault(part.stem, None)
        for pack in packs:
            if pack not in self._packs:
                self._kept.update(dict.fromkeys(seal.read(pack, columns=[KEY])[KEY].unique(), pack))
                self._packs.add(pack)

    def _listing(self) -> tuple[list[Path], list[Path]]:
        """Return the packs and the parts of rows, in the order of their names."""
        folder = self.path / ROWS
        found = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
        packs = [file for file in found if file.stem.startswith("pack-")]
        return packs, [file for file in found if not file.stem.startswith("pack-")]

    def _part(self, table: str, key: str) -> Path:
        return self.path / table / f"{key}.parquet"


def tables(traces: Sequence[str]) -> list[str]:
    """Return the tables of a run that is recorded with `traces`, the rows first."""
    return [ROWS, *(KINDS[name.removesuffix(":full")].table for name in traces)]


def _part_of_rows(file: Path) -> pl.DataFrame:
    """Read a part, which contains the rows of the run in its name."""
    rows = seal.read(file)
    if KEY not in rows.columns or rows.is_empty() or (rows[KEY] != file.stem).any():
        raise seal.damaged(file)
    return rows


def _distinct(frames: list[pl.DataFrame], wanted: pl.Series) -> pl.DataFrame | None:
    """Return the wanted runs, each from the first frame that contains it."""
    if not frames:
        return None
    every = pl.concat(
        [frame.with_columns(pl.lit(place).alias("")) for place, frame in enumerate(frames)],
        how="diagonal_relaxed",
    )
    first = pl.col("") == pl.col("").min().over(KEY)
    return every.join(wanted.to_frame(), on=KEY, how="semi").filter(first).drop("")
