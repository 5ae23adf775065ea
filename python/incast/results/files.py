"""Files that are whole or absent, whoever else writes to the folder and whenever we are killed."""

import os
import platform
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing is locked there, and the last one wins
    fcntl = None  # type: ignore[assignment]

from incast.errors import ResultsError

_SUFFIX = ".tmp"


def write_whole(
    file: Path, content: bytes | bytearray | memoryview, *, durable: bool = False
) -> None:
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
    try:
        with _temporary(file) as handle:
            temporary = Path(handle.name)
            try:
                handle.write(content)
                handle.flush()
                if durable:
                    os.fsync(handle.fileno())
                temporary.replace(file)
            except BaseException:  # Ctrl-C, too
                temporary.unlink(missing_ok=True)
                raise
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ResultsError(f"{file.parent}: cannot be written to: {error.strerror}") from None


def _temporary(file: Path) -> BufferedWriter:
    """Open a file of a name that nobody else has, locked for as long as it is open.

    Who sweeps up may take the lock before this process has it, and then removes the file.
    """
    while True:
        name = f"{file.stem}.{host()}.{secrets.token_hex(8)}{_SUFFIX}"
        handle = file.with_name(name).open("xb")
        if fcntl is None:
            return handle
        with suppress(OSError):  # a file system without locks: there nobody sweeps up
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle.fileno()).st_nlink:
            return handle
        handle.close()


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
    """Remove what killed processes of this machine left half written.

    A living one holds the lock of its file, in whichever container it is. Elsewhere locks may not
    be seen: files that bear another machine's name stay.
    """
    if fcntl is None:
        return
    for file in folder.glob(f"*.{host()}.*{_SUFFIX}"):
        with suppress(OSError), file.open("rb") as handle:  # BlockingIOError: it is being written
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes that lock the same folder out; a killed process holds no lock."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def host() -> str:
    """Return the name of this machine, as names of files have it."""
    return "".join(c if c.isalnum() or c == "-" else "-" for c in platform.node()) or "host"
