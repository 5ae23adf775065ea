"""The time of each run, stored separately because rows are the same on every machine.

Each process has its own file, `times/<host>.<chance>.csv`, with a line per run: its key, the
seconds, the host, and a checksum. On an object store, no file can grow, so the process writes its
file again with more lines, and begins another file after 1000 lines. Lines that are incomplete
after a kill or on a full disk are ignored. A run without a line has no time.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import polars as pl

from incast.errors import ResultsError
from incast.results import files
from incast.results.frames import KEY, WALL
from incast.results.remote import Remote

TABLE = "times"

COLUMNS = [
    {"name": KEY, "unit": "", "description": "key of the run"},
    {"name": WALL, "unit": "s", "description": "real time that the engine took"},
    {"name": "host", "unit": "", "description": "where it ran"},
    {"name": "check", "unit": "", "description": "CRC-32 of the other columns"},
]

_HEAD = ",".join(column["name"] for column in COLUMNS) + "\n"
_MOST_LINES = 1000  # maximum for a file that is written again for each batch


class Times:
    """The times of runs, in a folder.

    Parameters
    ----------
    path
        The directory that contains the folder. The folder is created when a time is stored.
    """

    def __init__(self, path: Path) -> None:
        self.folder = path / TABLE
        self._host = files.host()
        self._own = self.folder / f"{self._host}.{secrets.token_hex(8)}.csv"
        self._begun = False
        self._lines: list[str] = []  # lines of this process's file, if files cannot grow
        self._seconds: dict[str, float] = {}  # times of the runs whose lines were read
        self._read: dict[Path, int] = {}  # the number of bytes of each file that were read

    def put(self, seconds: Mapping[str, float]) -> None:
        """Store the times of runs, by their keys."""
        if not seconds:
            return
        lines = [] if self._begun else [_HEAD]
        for key, value in seconds.items():
            told = f"{key},{value!r},{self._host}"
            lines.append(f"{told},{crc32(told.encode()):08x}\n")
        if not self._begun:
            files.make_folder(self.folder)
            self._begun = True
        if isinstance(self._own, Remote):
            self._write_again(lines)
            return
        try:
            handle = os.open(self._own, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(handle, "".join(lines).encode())
            finally:
                os.close(handle)
        except OSError as error:
            raise ResultsError(f"{self.folder}: cannot be written to: {error.strerror}") from None

    def _write_again(self, lines: list[str]) -> None:
        """Write this process's file again with more lines, or begin another file."""
        if len(self._lines) >= _MOST_LINES:
            self._own = self.folder / f"{self._host}.{secrets.token_hex(8)}.csv"
            self._lines = [_HEAD]
        self._lines += lines
        files.write_whole(self._own, "".join(self._lines).encode())

    def read(self) -> pl.DataFrame:
        """Return `run` and `wall_s` of all runs with a known time, each once."""
        for file in sorted(self.folder.glob("*.csv")) if self.folder.is_dir() else ():
            self._read[file] = self._read_on(file, self._read.get(file, 0))
        return frame(self._seconds)

    def _read_on(self, file: Path, start: int) -> int:
        """Read the new lines of a file; return the position of the next line."""
        if isinstance(file, Remote):
            new = file.read_bytes(start) if file.size > start else b""
        elif file.stat().st_size == start:
            return start
        else:
            files.check_regular(file)
            with file.open("rb") as handle:
                handle.seek(start)
                new = handle.read()
        *lines, torn = new.split(b"\n")
        for line in filter(_is_whole, lines):
            key, seconds, _ = line.split(b",", 2)
            self._seconds[key.decode()] = float(seconds)
        return start + len(new) - len(torn)


def checked(file: Path) -> bytes:
    """Return the head and the lines with a valid checksum; empty if there is no such line.

    Raises
    ------
    ResultsError
        The file is not regular.
    """
    files.check_regular(file)
    lines = [line + b"\n" for line in file.read_bytes().split(b"\n") if _is_whole(line)]
    return b"".join([_HEAD.encode(), *lines]) if lines else b""


def _is_whole(line: bytes) -> bool:
    told, _, check = line.rpartition(b",")
    return b"%08x" % crc32(told) == check


def frame(seconds: dict[str, float]) -> pl.DataFrame:
    """Return the seconds of runs as a table, by their keys."""
    schema = {KEY: pl.String, WALL: pl.Float64}
    return pl.DataFrame({KEY: list(seconds), WALL: list(seconds.values())}, schema=schema)


def joined(rows: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """Add the times of runs to their rows, as the last column.

    An earlier version stored the times in the rows; those times are kept.
    """
    own = [pl.col(WALL)] if WALL in rows.columns else []
    found = rows.join(
        times.rename({WALL: ""}), on=KEY, how="left", maintain_order="left"
    ).with_columns(pl.coalesce(*own, "").alias(WALL))
    return found.select(pl.exclude(WALL, ""), WALL)
