"""The runs of advice: in memory, and in a directory if the user names one.

A run is stored by its key, a hash of the resolved scenario, the seed and the engine's version. So
a directory can hold runs of many scenarios, and no run can be out of date.
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
"""The file that marks a directory of runs of advice."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed; `finished` is the number of finished runs."""

    def __init__(self, finished: int) -> None:
        super().__init__(f"{finished} runs finished")
        self.finished = finished


class Runs(Memory):
    """Runs, each of which is simulated only once.

    Parameters
    ----------
    archive
        The archive in which runs are also kept; None if they are kept in memory only.
    """

    def __init__(self, archive: Archive | None = None) -> None:
        super().__init__()
        self.archive = archive
        self.simulated = 0
        self.reused = 0
        """Number of runs that were read from the archive."""

    @classmethod
    def at(cls, place: str | Path) -> Self:
        """Open a directory, or create it.

        Raises
        ------
        ResultsError
            The directory cannot be written to, or contains other files.
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
        """Store the rows of runs, first in the archive, then in memory."""
        if self.archive is not None:
            self.archive.put(runs)
        super().put(runs)
        self.simulated += len(runs)
