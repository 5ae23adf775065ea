"""A second thread reads captures in Rust; the first thread shows progress and handles Ctrl-C."""

import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from incast._core import Captures
from incast.errors import CaptureError
from incast.units import plain


class Place(StrEnum):
    """Where a capture was taken."""

    CLIENT = "client"
    SERVER = "server"
    SWITCH = "switch"


class Report(dict[str, Any]):
    """The report that `incast diagnose --format json` prints; its entries are also attributes.

    `report["stalls"]` and `report.stalls` are the same. The how-to describes the entries. A
    notebook shows the page of `--format html`, without its pictures.
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
        """Return the report as a plain dictionary, as `--format json` prints it."""
        return dict(self)

    def __repr__(self) -> str:
        from incast.diagnose import text

        return f"<Report: {text.answer(self)}>"

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks."""
        from incast.diagnose import page

        return page.body(self)


PIPE = "-"
FLOWS = range(2, 65_536)
_STEP = 0.1  # seconds between two reports of progress
_PATIENCE = 2.0  # seconds after the first Ctrl-C; a later Ctrl-C ends the command at once


def diagnose(
    paths: str | Path | Sequence[str | Path],
    vantage: str | None = None,
    flows: int = 3,
    progress: Callable[[float | None, float | None], None] | None = None,
) -> Report:
    """Read captures, and return a report.

    Parameters
    ----------
    paths
        One file or several: pcap or pcapng, also compressed by gzip or zstd; `-` is standard input.
        Files that follow each other in time are read as one capture. Files that overlap in time are
        read as captures at several places.
    vantage
        The place of the capture: `client`, `server` or `switch`. By default, it is inferred.
    flows
        Minimum number of flows of an episode, 2 to 65535.
    progress
        Called several times a second with the share that was read and the seconds left, or with
        None for both while they are unknown.

    Returns
    -------
    Report
        The report. If Ctrl-C ended the reading, its entry `interrupted` is true, and the report
        covers the part that was read.

    Raises
    ------
    CaptureError
        A file cannot be read or is not a capture, or `vantage` or `flows` is out of range.
    """
    if vantage is not None and vantage not in list(Place):
        given = plain(repr(vantage)[:80])
        raise CaptureError(f"vantage: {given}: must be one of {', '.join(Place)}")
    if type(flows) is not int or flows not in FLOWS:
        given = plain(repr(flows)[:80])
        raise CaptureError(f"flows: {given}: must be {FLOWS[0]} to {FLOWS[-1]}")
    several = [paths] if isinstance(paths, str | Path) else paths
    names = [str(path) for path in several]
    if names.count(PIPE) > 1:
        raise CaptureError(f"{PIPE}: standard input can be read only once")
    captures = Captures(names)
    found: list[dict[str, Any]] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            _open(captures)
            found.append(json.loads(captures.diagnose(vantage, flows)))
        except BaseException as error:  # noqa: BLE001 (it is raised in the caller's thread)
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
    return Report(found[0], interrupted=bool(interrupts))


@contextmanager
def _stopped_by_interrupts(captures: Captures) -> Iterator[list[float]]:
    """Let Ctrl-C stop only the reading; yield the times at which Ctrl-C was pressed.

    Otherwise, Ctrl-C would raise a `KeyboardInterrupt` anywhere in the code, and pressing it again
    would raise another one while the first is handled.
    """
    times: list[float] = []

    def stop(number: int, frame: FrameType | None) -> None:
        times.append(monotonic())
        captures.stop()
        if times[-1] - times[0] > _PATIENCE and callable(before):
            before(number, frame)

    before = signal.getsignal(signal.SIGINT)
    # Only the main thread can handle signals. If the program ignores SIGINT, keep ignoring it.
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
        A file cannot be read, or is not a capture.
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
    """Return the total size of the files in bytes, or None if a file is a pipe."""
    if PIPE in names or not all(Path(name).is_file() for name in names):
        return None
    return sum(Path(name).stat().st_size for name in names)


def _state(read: int, total: int | None, spent: float) -> tuple[float | None, float | None]:
    if not total or not read:
        return None, None
    share = min(read / total, 1.0)
    return share, spent * (1 - share) / share
