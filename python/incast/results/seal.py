"""Parquet files with a checksum, which detects any changed bit.

The checksum is a hash of the file's name and of all bytes of the file except the checksum itself.
The checksum is part of the file's metadata, so every reader of Parquet can read the file. The name
of a file follows from the keys of its runs, so a file under the name of another file is detected as
well.
"""

from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import polars as pl

from incast.errors import ResultsError
from incast.results import described, files

_COLUMNS = "incast.columns"
_LABEL = "incast.checksum"
_BLANK = "0" * 32
# The label of the checksum, and the bytes that Parquet puts between it and a string of 32 bytes.
_BEFORE = _LABEL.encode() + b"\x18\x20"


def parquet(frame: pl.DataFrame, file: Path) -> bytearray:
    """Return a table as Parquet, with the units of its columns and the checksum for its file.

    The name of the file's folder is the name of the table.
    """
    written = BytesIO()
    metadata = {_COLUMNS: described.text(file.parent.name), _LABEL: _BLANK}
    frame.write_parquet(written, metadata=metadata, statistics=False)
    content = bytearray(written.getbuffer())
    place = content.rindex(_BEFORE) + len(_BEFORE)
    content[place : place + len(_BLANK)] = _checksum(content, place, file)
    return content


def read(file: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Read a table that `parquet` or an earlier version without checksums has written.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ResultsError
        The file has changed since it was written, or is not a regular file.
    """
    files.check_regular(file)
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
    """Return the error for a damaged file."""
    return ResultsError(f"{file}: damaged, or from another run; remove it and run again")


def _checksum(content: bytes | bytearray, place: int, file: Path) -> bytes:
    """Return the checksum of a file's name and its content without the bytes at `place`."""
    view = memoryview(content)
    found = blake2b(f"{file.parent.name}/{file.name}".encode(), digest_size=len(_BLANK) // 2)
    found.update(view[:place])
    found.update(view[place + len(_BLANK) :])
    return found.hexdigest().encode()
