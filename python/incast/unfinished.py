"""Incomplete files: a writer locks its file, and files without a writer are removed."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system, so no file is locked and none is removed
    fcntl = None  # type: ignore[assignment]


def begin(name: Callable[[], Path]) -> BufferedWriter:
    """Open a new file, which stays locked until it is closed.

    Parameters
    ----------
    name
        A function that returns a new name on each call. The function is called again if another
        process locks and removes the new file (in `sweep_up`) before this process locks it.
    """
    while True:
        handle = name().open("xb")
        if fcntl is None:
            return handle
        with suppress(OSError):  # no locks on this file system, so `sweep_up` removes nothing there
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle.fileno()).st_nlink:
            return handle
        handle.close()


def sweep_up(files: Iterable[Path]) -> None:
    """Remove the files that no process is writing; keep links and pipes.

    A file that a running process writes is locked, also if this process is in another container
    of this machine.
    """
    if fcntl is None:
        return
    for file in files:
        if file.is_symlink() or not file.is_file():
            continue
        with suppress(OSError), file.open("rb") as handle:  # BlockingIOError: the file is in use
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.unlink(missing_ok=True)
