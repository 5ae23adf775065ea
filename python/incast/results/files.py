"""Files that are complete or absent, even with several writers and killed processes."""

import os
import platform
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system: files are not locked, and the last writer wins
    fcntl = None  # type: ignore[assignment]

from incast import unfinished
from incast.errors import ResultsError
from incast.results.remote import Remote

_SUFFIX = ".tmp"


def write_whole(
    file: Path, content: bytes | bytearray | memoryview, *, durable: bool = False
) -> None:
    """Write a file under a temporary name, and rename it when it is complete.

    On an object store, no temporary name is needed, because an object is complete or absent.

    Parameters
    ----------
    file
        The name of the file. An existing file is replaced.
    content
        The bytes to write.
    durable
        Whether the content must be on the disk before the file is renamed. A file that replaces
        other files must be durable, so that a power failure does not leave this file empty.
    """
    try:
        if isinstance(file, Remote):
            file.write_bytes(content)
            return
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
    """Open a file with a unique name, locked while it is open."""
    return unfinished.begin(
        lambda: file.with_name(f"{file.stem}.{host()}.{secrets.token_hex(8)}{_SUFFIX}")
    )


def check_regular(file: Path, *, link: bool = True) -> None:
    """Refuse a pipe, a device or a folder; also refuse a link if `link` is false.

    Raises
    ------
    ResultsError
        The path is not a regular file, or is a link.
    """
    if isinstance(file, Remote):
        return
    if file.exists() and not file.is_file():
        raise ResultsError(f"{file}: must be a regular file")
    if not link and file.is_symlink():
        raise ResultsError(f"{file}: must be a regular file, not a link")


def make_folder(folder: Path) -> None:
    """Create a folder of results; refuse a link, which could lead to any folder of this machine.

    Raises
    ------
    ResultsError
        The folder is a link.
    """
    check_own(folder)
    folder.mkdir(parents=True, exist_ok=True)


def check_own(folder: Path) -> None:
    """Refuse a folder of results that is a link; the results directory itself may be a link.

    Raises
    ------
    ResultsError
        The folder is a link.
    """
    if isinstance(folder, Remote):
        return
    if folder.is_symlink():
        raise ResultsError(f"{folder}: must be a folder, not a link")


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written. Call this before the work.

    Raises
    ------
    ResultsError
        The path is a directory, or its folder cannot be written to.
    """
    if isinstance(path, Remote):
        raise ResultsError(f"{path}: is not on this machine; choose a file here")
    if path.is_dir():
        raise ResultsError(f"{path}: is a directory")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from None


def is_temporary(file: Path) -> bool:
    """Return whether a file is incomplete: it is being written, or its writer died."""
    return file.suffix == _SUFFIX


def sweep_up(folder: Path) -> None:
    """Remove incomplete files of killed processes of this machine.

    Locks of other machines may not be visible, so files with another machine's name are kept.
    """
    if not isinstance(folder, Remote):
        unfinished.sweep_up(folder.glob(f"*.{host()}.*{_SUFFIX}"))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder against other processes; the lock of a killed process is released.

    On systems without locks, the last writer wins.
    """
    if fcntl is None:
        yield
        return
    if isinstance(folder, Remote):
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def host() -> str:
    """Return the name of this machine, for names of files."""
    return "".join(c if c.isalnum() or c == "-" else "-" for c in platform.node()) or "host"
