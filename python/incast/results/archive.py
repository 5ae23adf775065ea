"""A folder of runs by key: the rows of many runs to a file, the traces of one.

`runs/` holds the rows, `events/`, `queues/` and `flows/` the traces of the runs that have them. A
trace is called `<key>.parquet`. Rows come in batches, and every file of rows is a *pack*,
`pack-<hash of its keys>.parquet`, whose column `run` holds the keys: the index of a pack is in the
pack. Traces are written before the rows, which mark a run as complete.

The runs that a sweep asks for are cut into chunks of `PACK`, in their order. A batch that leaves a
chunk incomplete becomes a small pack. The batch that completes the chunk is written together with
those before it, and replaces their packs. So a million runs are a thousand files, and a sweep that
one process has run leaves the same bytes whenever it is run. The time that a run took differs, and
is stored separately (`incast.results.times`).

Every file is complete or absent and has a checksum (`incast.results.seal`). A pack is removed only
after the one that replaces it is on the disk. No lock is needed: a process may be killed at any
time, and others may read and write the same folder. At worst a run is stored twice, and it counts
once.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import polars as pl

from incast.errors import ResultsError
from incast.results import files, frames, seal
from incast.results.frames import KEY, ROWS, Run
from incast.results.times import Times, joined
from incast.results.traces import KINDS
from incast.scenario.plan import Job

PACK = 1000  # runs of a full pack

_PREFIX = "pack-"
_MANY = 100  # small packs, left by killed or interrupted processes, from which on they are merged
_ATTEMPTS = 5  # at reading a folder that another process packs meanwhile
_STALE = 0.25  # seconds after which the folder is looked at again, for what others have put


@dataclass
class _Chunk:
    """Runs that become one pack when all of them are there.

    Parameters
    ----------
    keys
        Their keys, in order.
    left
        How many are neither put nor passed over.
    packs
        The small packs of those that were put.
    """

    keys: list[str]
    left: int
    packs: list[Path] = field(default_factory=list)


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
        self._kept: dict[str, Path] = {}  # keys seen or written, and a pack that has them
        self._packs: dict[Path, int] = {}  # packs whose keys are known, and their runs
        self._chunks: dict[str, _Chunk] = {}  # of the runs that are expected, by their keys
        self._looked = -_STALE  # when the folder was last looked at
        self._looking = Lock()

    def prepare(self, traces: Sequence[str]) -> None:
        """Create the folders for rows and `traces`, without temporary files of killed processes.

        Raises
        ------
        ResultsError
            A pack is damaged. This must be reported before anything runs.
        """
        for table in tables(traces):
            (self.path / table).mkdir(parents=True, exist_ok=True)
            files.sweep_up(self.path / table)
        self._look()
        self._gather()

    def expect(self, jobs: Sequence[Job]) -> None:
        """Announce the runs that will be put, or passed over, in the order of their packs."""
        for start in range(0, len(jobs), PACK):
            keys = [job.key for job in jobs[start : start + PACK]]
            self._chunks.update(dict.fromkeys(keys, _Chunk(keys, len(keys))))

    def has(self, job: Job, traces: Sequence[str] = ()) -> bool:
        """Return whether a run is stored, with the requested traces."""
        if job.key not in self._kept and time.monotonic() >= self._looked + _STALE:
            self._look()
        return job.key in self._kept and all(
            self._trace(table, job.key).exists() for table in tables(traces)[1:]
        )

    def put_traces(self, run: Run) -> None:
        """Write the traces of a run, before its rows. May be called from several threads."""
        for table, frame in frames.traces(run).items():
            file = self._trace(table, run.job.key)
            files.write_whole(file, seal.parquet(frame, file))

    def put(self, runs: Sequence[Run]) -> None:
        """Write the rows of runs. They are stored when it returns."""
        known = [run.job for run in runs if run.job.key in self._kept]  # run again for a trace
        new = {run.job.key: run for run in runs if run.job.key not in self._kept}
        self._times.put({key: frames.seconds(run) for key, run in new.items()})
        self.pass_over(known)
        batches: dict[int, tuple[_Chunk, list[Run]]] = {}
        for run in new.values():
            chunk = self._chunks.get(run.job.key) or _Chunk([run.job.key], 1)
            batches.setdefault(id(chunk), (chunk, []))[1].append(run)
        for chunk, batch in batches.values():
            rows = frames.rows(batch)
            chunk.left -= len(batch)
            if chunk.left:
                chunk.packs.append(self._write(rows))
            else:
                self._complete(chunk, [rows])

    def pass_over(self, jobs: Iterable[Job]) -> None:
        """Expect runs no more, because another process has put them."""
        for job in jobs:
            chunk = self._chunks.get(job.key)
            if chunk is not None:
                chunk.left -= 1
                if not chunk.left:
                    self._complete(chunk)

    def trace(self, table: str, job: Job) -> pl.DataFrame | None:
        """Read one trace of one run: `events`, `queues` or `flows`."""
        file = self._trace(table, job.key)
        return seal.read(file) if file.exists() else None

    def rows(self, jobs: Iterable[Job]) -> pl.DataFrame | None:
        """Read the rows of the stored runs, in any order."""
        wanted = {job.key for job in jobs}
        for _ in range(_ATTEMPTS):
            self._look()
            packs = sorted({self._kept[key] for key in wanted if key in self._kept})
            if not packs:
                return None
            try:
                found = [seal.read(pack) for pack in packs]
            except FileNotFoundError:  # replaced meanwhile, by somebody else
                self._forget(lambda pack: not pack.exists())
                continue
            rows = _distinct(found, pl.Series(KEY, sorted(wanted), pl.String))
            return joined(rows, self._times.read())
        raise ResultsError(f"{self.path / ROWS}: changed while it was read; try again")

    def _complete(self, chunk: _Chunk, last: Sequence[pl.DataFrame] = ()) -> None:
        """Write a chunk as one pack, in its order, and remove the packs that it replaces."""
        for key in chunk.keys:
            self._chunks.pop(key, None)
        try:
            found = [seal.read(pack) for pack in chunk.packs]
        except FileNotFoundError:  # another process has gathered them
            found, chunk.packs = [], []
        found += last
        if not found or (len(found) == 1 and not last):
            return
        order = pl.DataFrame({KEY: chunk.keys, "": range(len(chunk.keys))})
        every = pl.concat(found, how="diagonal_relaxed").join(order, on=KEY, how="left")
        written = self._write(every.sort("", maintain_order=True).drop(""), durable=True)
        self._remove(set(chunk.packs) - {written})

    def _gather(self) -> None:
        """Make full packs of the small ones that killed or interrupted processes left."""
        small = sorted(pack for pack, runs in self._packs.items() if runs < PACK)
        if len(small) < _MANY:
            return
        found = []
        for pack in small:
            try:
                found.append(seal.read(pack))
            except FileNotFoundError:  # another process gathers, too
                return
        keys = pl.concat([frame.select(KEY) for frame in found]).unique().sort(KEY)[KEY]
        every = _distinct(found, keys)
        written = set()
        for start in range(0, len(keys), PACK):
            some = every.join(keys[start : start + PACK].to_frame(), on=KEY, how="semi")
            written.add(self._write(some.sort(KEY, maintain_order=True), durable=True))
        self._remove(set(small) - written)

    def _write(self, rows: pl.DataFrame, *, durable: bool = False) -> Path:
        """Write rows as a pack."""
        keys = rows[KEY].unique(maintain_order=True).to_list()
        name = blake2b("".join(sorted(keys)).encode(), digest_size=16).hexdigest()
        pack = self.path / ROWS / f"{_PREFIX}{name}.parquet"
        files.write_whole(pack, seal.parquet(rows, pack), durable=durable)
        with self._looking:
            self._kept.update(dict.fromkeys(keys, pack))
            self._packs[pack] = len(keys)
        return pack

    def _remove(self, packs: set[Path]) -> None:
        for pack in sorted(packs):
            pack.unlink(missing_ok=True)
        self._forget(packs.__contains__)

    def _forget(self, gone: Callable[[Path], bool]) -> None:
        """Forget packs that are there no more, with the keys that no other pack has."""
        with self._looking:
            lost = {pack for pack in self._packs if gone(pack)}
            self._packs = {pack: n for pack, n in self._packs.items() if pack not in lost}
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
                except FileNotFoundError:  # replaced meanwhile, by somebody else
                    continue
                except pl.exceptions.ColumnNotFoundError:
                    raise seal.damaged(pack) from None
                if not pack.stem.startswith(_PREFIX) and keys != [pack.stem]:
                    raise seal.damaged(pack)  # an earlier version's file of one run
                self._kept.update(dict.fromkeys(keys, pack))
                self._packs[pack] = len(keys)

    def _trace(self, table: str, key: str) -> Path:
        return self.path / table / f"{key}.parquet"


def tables(traces: Sequence[str]) -> list[str]:
    """Return the tables of a run that is recorded with `traces`, the rows first."""
    return [ROWS, *(KINDS[name.removesuffix(":full")].table for name in traces)]


def _distinct(found: list[pl.DataFrame], wanted: pl.Series) -> pl.DataFrame:
    """Return the wanted runs, each from the first frame that contains it."""
    every = pl.concat(
        [frame.with_columns(pl.lit(place).alias("")) for place, frame in enumerate(found)],
        how="diagonal_relaxed",
    )
    first = pl.col("") == pl.col("").min().over(KEY)
    return every.join(wanted.to_frame(), on=KEY, how="semi").filter(first).drop("")
