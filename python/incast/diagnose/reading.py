"""Captures are read by a thread of Rust; this one shows progress and waits for Ctrl-C."""

import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from incast._core import Captures
from incast.errors import CaptureError


class Report(dict[str, Any]):
    """What `incast diagnose --format json` prints: a dictionary, and its entries as attributes.

    `report["stalls"]` and `report.stalls` are the same. The entries are those of the format, which
    the how-to describes. A notebook shows the page of `--format html`, without its pictures.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (entries have no common type)
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"the report has no {name!r}; it has {known}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs, as `--format json` prints it."""
        return dict(self)

    def __repr__(self) -> str:
        from incast.diagnose import text

        return f"<Report: {text.answer(self)}>"

    def _repr_html_(self) -> str:
        """Return the page, for notebooks."""
        from incast.diagnose import page

        return page.body(self)


PIPE = "-"
_STEP = 0.1  # seconds between two looks
_PATIENCE = 2.0  # seconds for the reading to end after Ctrl-C; then another one leaves without it


def diagnose(
    paths: str | Path | Sequence[str | Path],
    vantage: str | None = None,
    flows: int = 3,
    progress: Callable[[float | None, float | None], None] | None = None,
) -> Report:
    """Read captures, and say what happened in them.

    Parameters
    ----------
    paths
        A file or several: pcap or pcapng, also compressed by gzip or zstd; `-` is standard input.
        Files that follow each other in time are read as one; those that overlap, as several places.
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
    several = [paths] if isinstance(paths, str | Path) else paths
    names = [str(path) for path in several]
    if names.count(PIPE) > 1:
        raise CaptureError(f"{PIPE}: standard input can be read once")
    captures = Captures(names)
    found: list[str] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            _open(captures)
            found.append(captures.diagnose(vantage, flows))
        except BaseException as error:  # noqa: BLE001 (the caller gets it)
            failed.append(error)
        finally:
            done.set()

    total = size(names)
    began = monotonic()
    with _stopped_by_interrupts(captures) as interrupts:
        threading.Thread(target=read, daemon=True).start()
        while not done.wait(_STEP):
            if progress is not None:
                progress(*_state(captures.bytes_read, total, monotonic() - began))
    if failed:
        raise failed[0]
    return Report(json.loads(found[0]), interrupted=bool(interrupts))


@contextmanager
def _stopped_by_interrupts(captures: Captures) -> Iterator[list[float]]:
    """Let Ctrl-C stop a reading, and nothing else; yield the times at which it came.

    A `KeyboardInterrupt` may come at any place, and a second one while the first is handled.
    """
    times: list[float] = []

    def stop(number: int, frame: FrameType | None) -> None:
        times.append(monotonic())
        captures.stop()
        if times[-1] - times[0] > _PATIENCE and callable(before):
            before(number, frame)

    before = signal.getsignal(signal.SIGINT)
    # Only the main thread gets signals, and what ignores them still does.
    heeds = threading.current_thread() is threading.main_thread() and callable(before)
    if heeds:
        signal.signal(signal.SIGINT, stop)
    try:
        yield times
    finally:
        captures.stop()
        if heeds:
            signal.signal(signal.SIGINT, before)


def opened(names: Sequence[str]) -> Captures:
    """Open captures.

    Raises
    ------
    CaptureError
        A file cannot be read, or is no capture.
    """
    captures = Captures(names)
    _open(captures)
    return captures


def _open(captures: Captures) -> None:
    try:
        captures.open()
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
