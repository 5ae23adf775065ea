"""Files that are whole or absent, whoever else writes to the folder and whenever we are killed."""

import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incast.errors import ResultsError

_SUFFIX = ".tmp"


def write_whole(file: Path, content: bytes | memoryview, *, durable: bool = False) -> None:
    """Write a file under a temporary name, and give it its name when it is whole.

    Parameters
    ----------
    file
        Its name. What bore it before is replaced.
    content
        What is in it.
    durable
        Whether the contents must be on the disk before the name is: a file that replaces others
        must not be empty after a power cut.
    """
    temporary = file.with_name(f"{file.stem}.{_host()}.{os.getpid()}{_SUFFIX}")
    try:
        with temporary.open("wb") as handle:
            handle.write(content)
            if durable:
                handle.flush()
                os.fsync(handle.fileno())
        temporary.replace(file)
    except BaseException:  # Ctrl-C, too
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Refuse, before any work, a file that could not be written after it.

    Raises
    ------
    ResultsError
        It is a directory, or its folder cannot be written to.
    """
    if path.is_dir():
        raise ResultsError(f"{path}: is a directory")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from None


def is_temporary(file: Path) -> bool:
    """Say whether a file is being written, or was when its process died."""
    return file.suffix == _SUFFIX


def sweep_up(folder: Path) -> None:
    """Remove what killed processes of this machine left half written."""
    host = _host()
    for file in folder.glob(f"*{_SUFFIX}"):
        *_, machine, process, _ = ["", "", "", *file.name.split(".")]
        if machine == host and process.isdigit() and not _alive(int(process)):
            file.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes that lock the same folder out; a killed process holds no lock."""
    try:
        import fcntl
    except ImportError:  # not a POSIX system: there the last one wins
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _host() -> str:
    return platform.node().replace(".", "-") or "host"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
