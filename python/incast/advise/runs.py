"""The runs of advice: in memory, and in a directory if the user names one.

A run is stored by its key, a hash of the resolved scenario, the seed and the engine's version. So
a directory can hold runs of many scenarios, and none of them can be out of date.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from incast.errors import ResultsError
from incast.results import files
from incast.results.archive import Archive
from incast.results.frames import KEY, WALL, Run
from incast.results.remote import located
from incast.results.store import Memory
from incast.scenario.plan import Job

MARK = "advise.json"
"""The file that marks such a directory."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; how many runs have finished."""

    def __init__(self, finished: int) -> None:
        super().__init__(f"{finished} runs finished")
        self.finished = finished


class Runs(Memory):
    """Runs that are simulated once.

    Parameters
    ----------
    archive
        Where they are kept as well; None for the memory only.
    """

    def __init__(self, archive: Archive | None = None) -> None:
        super().__init__()
        self.archive = archive
        self.simulated = 0
        self.reused = 0
        """Runs that were in the archive."""

    @classmethod
    def at(cls, place: str | Path) -> Self:
        """Open a directory, or create it.

        Raises
        ------
        ResultsError
            It cannot be written to, or contains something else.
        """
        path = located(place)
        mark = path / MARK
        if path.is_dir() and not mark.exists():
            with files.locked(path):
                others = [file for file in path.iterdir() if not files.is_temporary(file)]
            if others and not mark.exists():
                raise ResultsError(
                    f"{path}: exists but contains no runs of incast advise; choose another "
                    "directory"
                )
        archive = Archive(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not mark.exists():
                files.write_whole(mark, json.dumps({"runs of": "incast advise"}).encode() + b"\n")
            archive.prepare(())
        except OSError as error:
            raise ResultsError(f"{path}: cannot be written to: {error.strerror}") from None
        return cls(archive)

    def expect(self, jobs: Sequence[Job], first: int = 0) -> None:
        """Announce runs to the archive."""
        if self.archive is not None:
            self.archive.expect(jobs, first)

    def take(self, jobs: Iterable[Job]) -> None:
        """Read the runs that the archive contains."""
        if self.archive is None:
            return
        new = [job for job in jobs if not self.has(job) and self.archive.has(job)]
        rows = self.archive.rows(new) if new else None
        if rows is None:
            return
        self.add(rows.drop(WALL), dict(rows.select(KEY, WALL).iter_rows()))
        self.reused += rows[KEY].n_unique()

    def put(self, runs: Sequence[Run]) -> None:
        """Store the rows of runs, in the archive first."""
        if self.archive is not None:
            self.archive.put(runs)
        super().put(runs)
        self.simulated += len(runs)
