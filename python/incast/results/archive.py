"""A folder of runs by key: a file has the rows of many runs, or a trace of one run.

`runs/` holds the rows. `events/`, `queues/` and `flows/` hold the traces of recorded runs. A trace
is the file `<key>.parquet`. The first parts of a long trace, `<key>-000001.parquet` and so on, are
written during the run. Every file of rows is a *pack*, `pack-<hash of its keys>.parquet`. Its
column `run` holds the keys, so a pack is its own index. The traces of a run are written before its
rows, which mark the run as complete.

The runs of a sweep are cut into chunks of `PACK` runs, in their order. Rows are stored in batches.
A batch that leaves a chunk incomplete becomes a small pack. The batch that completes a chunk is
written together with the earlier batches of the chunk, and the new pack replaces the packs of these
batches. So a million runs make a thousand files, and these files are the same, byte for byte,
however often the sweep is interrupted. `merge` divides the runs of several writers into such packs
again (`incast.results.merge`). The time that a run takes is never the same, so it is stored
separately (`incast.results.times`).

Every file is complete or absent and has a checksum (`incast.results.seal`). A pack is removed only
after the pack that replaces it is on the disk. No lock is needed: a process may be killed at any
time, and others may read and write the same folder. At worst, a run is stored twice and counts
once. The folder may be on an object store (`incast.results.remote`).
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from incast.errors import ResultsError
from incast.results import described, files, frames, seal
from incast.results.frames import KEY, ROWS, Run
from incast.results.remote import is_remote
from incast.results.times import Times, joined
from incast.results.traces import KINDS
from incast.scenario.plan import Job

PACK = 1000  # number of runs in a full pack

_PREFIX = "pack-"
_MANY = 100  # this many small packs, left by killed or interrupted processes, are merged
_TOGETHER = 20  # number of packs to read before dropping rows that were not requested
_ATTEMPTS = 5  # maximum attempts to read a folder in which another process replaces packs
_PACE = 1.0  # seconds between two batches on an object store
_STALE = 0.25  # seconds after which the folder is read again for runs of other processes


@dataclass
class _Chunk:
    """Runs that become one pack when all of them are stored.

    Parameters
    ----------
    keys
        The keys of the runs, in order.
    left
        The keys of runs that neither this process nor another process has stored yet.
    """

    keys: list[str]
    left: set[str]


class Archive:
    """Runs by key, in a folder.

    Parameters
    ----------
    path
        The folder, which is created when the first run is stored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pace = _PACE if is_remote(path) else 0.0
        self._times = Times(path)
        self._kept: dict[str, Path] = {}  # keys seen or written, each with a pack that contains it
        self._packs: set[Path] = set()  # packs whose keys are known
        self._open: dict[Path, pl.DataFrame] = {}  # packs that `pack_of` has read last
        self._chunks: dict[str, _Chunk] = {}  # chunks of expected runs, by the keys of the runs
        self._looked = -_STALE  # when the folder was last read
        self._looking = Lock()

    def prepare(self, traces: Sequence[str]) -> None:
        """Create the folders for rows and `traces`; remove temporary files of killed processes.

        Raises
        ------
        ResultsError
            A pack is damaged, or a folder is a link. Call this method before any run, so that this
            error comes first.
        """
        files.check_own(self._times.folder)
        for table in tables(traces):
            files.make_folder(self.path / table)
            files.sweep_up(self.path / table)
        self._look()

    def expect(self, jobs: Sequence[Job], first: int = 0) -> None:
        """Announce runs in the order of their packs.

        The runs that are missing in the archive will be added with `put`. If killed or interrupted
        processes left many small packs, these packs are merged into one.

        Parameters
        ----------
        jobs
            The runs.
        first
            The index of the first run in the whole sweep; packs have the order of the sweep.
        """
        ends = [*range(PACK - first % PACK, len(jobs), PACK), len(jobs)]
        for start, end in pairwise([0, *ends]):
            keys = [job.key for job in jobs[start:end]]
            left = {key for key in keys if key not in self._kept}
            if left:
                chunk = _Chunk(keys, left)
                self._chunks.update(dict.fromkeys(left, chunk))
            if len({self._kept[key] for key in keys if key in self._kept}) >= _MANY:
                self._join(keys)

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether a run is stored, with the requested traces."""
        if job.key not in self._kept and time.monotonic() >= self._looked + _STALE:
            self._look()
        return job.key in self._kept and all(
            self._trace(table, job.key).exists() for table in tables(traces)[1:]
        )

    def put_part(self, job: Job, table: str, number: int, columns: dict[str, Any]) -> None:
        """Write a part of a trace."""
        file = self._trace(table, f"{job.key}-{number:06}")
        files.write_whole(file, seal.parquet(frames.trace(job, columns), file))

    def put_traces(self, run: Run) -> None:
        """Write the traces of a run, before its rows. May be called from several threads."""
        for table, frame in frames.traces(run).items():
            file = self._trace(table, run.job.key)
            files.write_whole(file, seal.parquet(frame, file))

    def put(self, runs: Sequence[Run]) -> None:
        """Write the rows of runs; the rows are stored when `put` returns."""
        known = [run.job for run in runs if run.job.key in self._kept]  # repeated for a trace
        new = {run.job.key: run for run in runs if run.job.key not in self._kept}
        self._times.put({key: frames.seconds(run) for key, run in new.items()})
        self.pass_over(known)
        batches: dict[int, tuple[_Chunk, list[Run]]] = {}
        for run in new.values():
            key = run.job.key
            chunk = self._chunks.get(key) or _Chunk([key], {key})
            batches.setdefault(id(chunk), (chunk, []))[1].append(run)
        for chunk, batch in batches.values():
            rows = frames.rows(batch)
            self._done(chunk, [run.job.key for run in batch])
            if chunk.left:
                self._write(rows)
            else:
                self._join(chunk.keys, rows)

    def pass_over(self, jobs: Iterable[Job]) -> None:
        """Stop expecting runs, because another process has stored them."""
        for job in jobs:
            chunk = self._chunks.get(job.key)
            if chunk is not None:
                self._done(chunk, [job.key])
                if not chunk.left:
                    self._join(chunk.keys)

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Read one trace of one run: `events`, `queues` or `flows`."""
        file = self._trace(table, job.key)
        if not file.exists():
            return None
        parts = sorted(file.parent.glob(f"{job.key}-*"))
        return pl.concat([seal.read(part) for part in [*parts, file]])

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Read the rows of all stored runs among `jobs`, in any order."""
        wanted = {job.key for job in jobs}
        for _ in range(_ATTEMPTS):
            self._look()
            packs = sorted({self._kept[key] for key in wanted if key in self._kept})
            if not packs:
                return None
            asked = pl.Series(KEY, sorted(wanted), pl.String)
            try:
                found = [
                    _distinct([seal.read(pack) for pack in packs[at : at + _TOGETHER]], asked)
                    for at in range(0, len(packs), _TOGETHER)
                ]
            except FileNotFoundError:  # another process has replaced a pack meanwhile
                self._forget_lost()
                continue
            return joined(_distinct(found, asked), self._times.read())
        raise ResultsError(f"{self.path / ROWS}: changed while it was read; try again")

    def pack_of(self, keys: Sequence[str]) -> pl.DataFrame | None:
        """Return the rows of all stored runs among `keys`, in the order of `keys`, without times.

        The packs stay in memory until a call needs other packs.
        """
        packs = sorted({self._kept[key] for key in keys if key in self._kept})
        self._open = {
            pack: self._open[pack] if pack in self._open else seal.read(pack) for pack in packs
        }
        if not packs:
            return None
        return in_order(list(self._open.values()), keys)

    def replace(self, rows: pl.DataFrame) -> Path:
        """Write rows as a pack that may replace other packs, and wait until it is on the disk."""
        return self._write(rows, durable=True)

    def keep_only(self, packs: set[Path]) -> None:
        """Remove each pack that is not in `packs` if the packs in `packs` contain all its runs."""
        self._remove({pack for pack in self._packs if pack not in packs} - set(self._kept.values()))

    def look(self) -> None:
        """Read which runs are stored."""
        self._look()

    def kept(self, key: str) -> bool:
        """Return whether the rows of a run were stored when the folder was last read."""
        return key in self._kept

    @property
    def packs(self) -> int:
        """The number of files of rows."""
        return len(self._packs)

    def seconds(self) -> dict[str, float]:
        """Return the times of runs, by their keys."""
        return dict(self._times.read().iter_rows())

    def _done(self, chunk: _Chunk, keys: Iterable[str]) -> None:
        """Stop expecting runs of a chunk."""
        for key in keys:
            chunk.left.discard(key)
            self._chunks.pop(key, None)

    def _join(self, keys: Sequence[str], last: pl.DataFrame | None = None) -> None:
        """Write the stored runs of `keys` and the rows `last` as one pack, in the order of `keys`.

        The packs that the new pack replaces are removed. A pack that also has other runs stays.
        """
        packs = sorted({self._kept[key] for key in keys if key in self._kept})
        try:
            found = [seal.read(pack) for pack in packs]
        except FileNotFoundError:  # another process has merged these packs
            found, packs = [], []
        chunk = set(keys)
        within = {
            pack for pack, rows in zip(packs, found, strict=True) if chunk.issuperset(rows[KEY])
        }
        if last is not None:
            found.append(last)
        if len(found) > 1 or last is not None:
            written = self._write(in_order(found, keys), durable=True)
            self._remove(within - {written})

    def _write(self, rows: pl.DataFrame, *, durable: bool = False) -> Path:
        """Write rows as a pack."""
        keys = rows[KEY].unique(maintain_order=True).to_list()
        name = blake2b("".join(sorted(keys)).encode(), digest_size=16).hexdigest()
        pack = self.path / ROWS / f"{_PREFIX}{name}.parquet"
        files.write_whole(pack, seal.parquet(rows, pack), durable=durable)
        with self._looking:
            self._kept.update(dict.fromkeys(keys, pack))
            self._packs.add(pack)
        return pack

    def _remove(self, packs: set[Path]) -> None:
        """Remove packs whose runs are in other packs."""
        for pack in sorted(packs):
            pack.unlink(missing_ok=True)
            with self._looking:
                self._packs.discard(pack)

    def _forget_lost(self) -> None:
        """Forget packs that no longer exist, and the keys that were found there."""
        with self._looking:
            lost = {pack for pack in self._packs if not pack.exists()}
            self._packs -= lost
            self._kept = {key: pack for key, pack in self._kept.items() if pack not in lost}

    def _look(self) -> None:
        """Read the keys of packs that are new in the folder."""
        with self._looking:
            self._looked = time.monotonic()
            folder = self.path / ROWS
            for pack in sorted(folder.glob("*.parquet")) if folder.is_dir() else ():
                if pack in self._packs:
                    continue
                try:
                    keys = seal.read(pack, columns=[KEY])[KEY].unique().to_list()
                except FileNotFoundError:  # another process has replaced the pack meanwhile
                    continue
                except pl.exceptions.ColumnNotFoundError:
                    raise seal.damaged(pack) from None
                if not pack.stem.startswith(_PREFIX) and keys != [pack.stem]:
                    raise seal.damaged(pack)  # an earlier version's file of one run
                self._kept.update(dict.fromkeys(keys, pack))
                self._packs.add(pack)

    def _trace(self, table: str, key: str) -> Path:
        return self.path / table / f"{key}.parquet"


def tables(traces: Sequence[str]) -> list[str]:
    """Return the tables of a run that is recorded with `traces`; the first table has the rows."""
    return [ROWS, *(KINDS[name.removesuffix(":full")].table for name in traces)]


def in_order(found: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """Return the runs of `keys` from tables of rows as a pack: each run once, in this order.

    The columns of the pack do not depend on how the runs are divided among the tables.
    """
    order = pl.DataFrame({KEY: list(keys), "": range(len(keys))})
    every = _distinct(found, order[KEY]).join(order, on=KEY, how="left")
    own = [name for name in every.columns if name not in {KEY, ""}]
    known = [column["name"] for column in described.columns(ROWS)]
    names = [KEY, *(name for name in own if name not in known)]
    names += [name for name in known if name in own]
    return every.sort("", maintain_order=True).select(names).rechunk()


def _distinct(found: Sequence[pl.DataFrame], wanted: pl.Series) -> pl.DataFrame:
    """Return the wanted runs, each from the first frame that contains it."""
    every = pl.concat(
        [frame.with_columns(pl.lit(place).alias("")) for place, frame in enumerate(found)],
        how="diagonal_relaxed",
    )
    first = pl.col("") == pl.col("").min().over(KEY)
    return every.join(wanted.to_frame(), on=KEY, how="semi").filter(first).drop("")
