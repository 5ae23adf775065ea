"""Parquet files with a checksum in them: a bit that flips anywhere is found.

The checksum is a hash of the file's name and of all its bytes but its own, and stands among the
file's own metadata, so that every reader of Parquet takes it as it is. The name is the run's key: a
file that bears another run's name is as wrong as a damaged one.
"""

from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from incast.errors import ResultsError

_LABEL = "incast.checksum"
_BLANK = "0" * 32
# What Parquet writes between a label and its text of 32 bytes.
_BEFORE = _LABEL.encode() + b"\x18\x20"


def parquet(frame: pl.DataFrame, file: Path, **options: Any) -> bytearray:
    """Return a table as Parquet, sealed for the file that will hold it."""
    written = BytesIO()
    frame.write_parquet(written, metadata={_LABEL: _BLANK}, **options)
    content = bytearray(written.getbuffer())
    place = content.rindex(_BEFORE) + len(_BEFORE)
    content[place : place + len(_BLANK)] = _checksum(content, place, file)
    return content


def read(file: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table that `parquet` made, or an earlier version, which knew no seal.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ResultsError
        It is not what was written there.
    """
    try:
        content = file.read_bytes()
        label = content.rfind(_BEFORE)
        place = label + len(_BEFORE)
        if label < 0 or content[place : place + len(_BLANK)] == _checksum(content, place, file):
            return pl.read_parquet(BytesIO(content), columns=columns)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass
    raise damaged(file)


def damaged(file: Path) -> ResultsError:
    """Return the error that says how to mend a file."""
    return ResultsError(f"{file}: damaged, or from another run; remove it and run again")


def _checksum(content: bytes | bytearray, place: int, file: Path) -> bytes:
    """Return the checksum that stands at a place of the content."""
    view = memoryview(content)
    found = blake2b(f"{file.parent.name}/{file.name}".encode(), digest_size=len(_BLANK) // 2)
    found.update(view[:place])
    found.update(view[place + len(_BLANK) :])
    return found.hexdigest().encode()
