"""Merges several directories into one, with the results that one process would have stored.

The runs are cut into packs in the order of the plan. The new packs do not depend on the processes
that stored the runs, on repeated runs, or on the old packs. So the files are the same, byte for
byte, whether the sweep was run in one piece, in shards, or with interruptions. At any time, only
one new pack of a thousand runs is in memory, and the packs from which it is made.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from incast.errors import ResultsError
from incast.results import archive, files, seal, times
from incast.results.archive import Archive, in_order, tables
from incast.results.frames import KEY, ROWS
from incast.results.store import Directory, check_same, combined
from incast.scenario.plan import Job


@dataclass(frozen=True)
class Merged:
    """The result of a merge.

    Parameters
    ----------
    runs, asked
        The number of different runs that are stored, and the number that the scenario asks for.
    packs
        The number of files of rows.
    """

    runs: int
    asked: int
    packs: int


def merge(out: Path, sources: Sequence[Path] = ()) -> Merged:
    """Put the results of one scenario from several directories into one directory.

    `sources` do not change. Runs that `out` already has stay there, in the same packs as the new
    runs. Without sources, only the packs of `out` are made again. No sweep may write to `out`
    during the merge.

    Raises
    ------
    ResultsError
        A directory contains no results, damaged results, or results of another scenario or engine;
        or `out` cannot be written to.
    """
    others = [Directory.open(path) for path in sources if path.resolve() != out.resolve()]
    stores = [Directory.open(out)] if out.is_dir() and any(out.iterdir()) else []
    stores += others
    if not stores:
        raise ResultsError(f"{out}: contains no results; name the directories to merge")
    traces: set[str] = set()
    for store in stores:
        check_same(store.path, store.manifest, stores[0].plan, sorted(traces))
        traces.update(store.manifest["traces"])
    for store in others:
        _check(store)
    target = combined(out, stores)
    for store in others:
        _copy_times(store, target)
        _copy_traces(store, target)
    packs = set()
    runs = asked = 0
    for chunk in _chunks(target.plan.runs(), archive.PACK):
        keys = [job.key for job in chunk]
        asked += len(keys)
        found = [store.pack_of(keys) for store in stores]
        rows = [one for one in found if one is not None]
        if rows:
            whole = in_order(rows, keys)
            runs += whole[KEY].n_unique()
            packs.add(target.replace(whole))
    target.keep_only(packs)
    target.seal("complete" if runs == asked else "partial")
    return Merged(runs, asked, len(packs))


def _chunks(jobs: Iterator[Job], size: int) -> Iterator[list[Job]]:
    while chunk := list(islice(jobs, size)):
        yield chunk


def _check(source: Directory) -> None:
    """Refuse links and damaged traces before anything is written."""
    for folder in (ROWS, times.TABLE):
        _files(source.path / folder, "*")
    for table in tables(source.manifest["traces"])[1:]:
        for file in _files(source.path / table, "*.parquet"):
            seal.read(file)


def _copy_times(source: Archive, target: Archive) -> None:
    """Copy the files of times, which all have different names."""
    folder = target.path / times.TABLE
    for file in _files(source.path / times.TABLE, "*.csv"):
        if content := times.checked(file):
            files.make_folder(folder)
            files.write_whole(folder / file.name, content)


def _copy_traces(source: Directory, target: Archive) -> None:
    for table in tables(source.manifest["traces"])[1:]:
        for file in _files(source.path / table, "*.parquet"):
            copy = target.path / table / file.name
            if not copy.exists():
                files.write_whole(copy, file.read_bytes())


def _files(folder: Path, pattern: str) -> Iterable[Path]:
    """Return the files of another store; refuse links, which could lead to any local file."""
    files.check_own(folder)
    found = sorted(folder.glob(pattern)) if folder.is_dir() else []
    for file in found:
        files.check_regular(file, link=False)
    return found
