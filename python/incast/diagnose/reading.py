"""Captures are read by a thread of Rust; this one shows progress and waits for Ctrl-C."""

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from incast._core import Captures
from incast.errors import CaptureError

Report = dict[str, Any]
"""The object that `incast diagnose --format json` prints."""

PIPE = "-"
_STEP = 0.1  # seconds between two looks


def diagnose(
    paths: Sequence[str | Path],
    vantage: str | None = None,
    flows: int = 3,
    progress: Callable[[float | None, float | None], None] | None = None,
) -> Report:
    """Read captures, and say what happened in them.

    Parameters
    ----------
    paths
        Files: pcap or pcapng, also compressed by gzip or zstd; `-` is standard input. Files that
        follow each other in time are read as one; those that overlap, as several places.
    vantage
        Where they were taken: `client`, `server` or `switch`. Inferred if it is not given.
    flows
        How many flows make an episode.
    progress
        Called several times a second with the share that was read, and the seconds left; both are
        None while they are unknown.

    Returns
    -------
    Report
        With `interrupted` if Ctrl-C ended the reading: it then covers what was read.

    Raises
    ------
    CaptureError
        A file cannot be read, or is no capture.
    """
    names = [str(path) for path in paths]
    if names.count(PIPE) > 1:
        raise CaptureError(f"{PIPE}: standard input can be read once")
    captures = opened(names)
    found: list[str] = []
    reader = threading.Thread(
        target=lambda: found.append(captures.diagnose(vantage, flows)), daemon=True
    )
    total = size(names)
    began, interrupted = monotonic(), False
    reader.start()
    while reader.is_alive():
        try:
            reader.join(_STEP)
            if progress is not None and reader.is_alive():
                progress(*_state(captures.bytes_read, total, monotonic() - began))
        except KeyboardInterrupt:
            interrupted = True
            captures.stop()
    return {**json.loads(found[0]), "interrupted": interrupted}


def opened(names: Sequence[str]) -> Captures:
    """Open captures.

    Raises
    ------
    CaptureError
        A file cannot be read, or is no capture.
    """
    try:
        return Captures(names)
    except ValueError as error:
        raise CaptureError(str(error)) from None


def size(names: Sequence[str]) -> int | None:
    """Return the bytes of all files, or None if one of them is a pipe."""
    if PIPE in names or not all(Path(name).is_file() for name in names):
        return None
    return sum(Path(name).stat().st_size for name in names)


def _state(read: int, total: int | None, spent: float) -> tuple[float | None, float | None]:
    if not total or not read:
        return None, None
    share = min(read / total, 1.0)
    return share, spent * (1 - share) / share
