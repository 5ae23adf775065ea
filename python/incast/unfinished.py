"""Files that are not complete yet: locked by their writer, and removed once there is none."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing is locked there, and nothing is swept up
    fcntl = None  # type: ignore[assignment]


def begin(name: Callable[[], Path]) -> BufferedWriter:
    """Open a new file, which stays locked until it is closed.

    Parameters
    ----------
    name
        Returns another name each time. A process that sweeps up may take the lock first, and remove
        the file.
    """
    while True:
        handle = name().open("xb")
        if fcntl is None:
            return handle
        with suppress(OSError):  # a file system without locks is not cleaned up
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle.fileno()).st_nlink:
            return handle
        handle.close()


def sweep_up(files: Iterable[Path]) -> None:
    """Remove those of the files that no process writes; links and pipes stay.

    A running process holds the lock of its file, in any container of this machine.
    """
    if fcntl is None:
        return
    for file in files:
        if file.is_symlink() or not file.is_file():
            continue
        with suppress(OSError), file.open("rb") as handle:  # BlockingIOError: it is being written
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
