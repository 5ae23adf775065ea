"""Ctrl-C ends the reading of captures soon, even while it waits for input, and prints a report."""

import gzip
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import captures
from conftest import Command
from incast import _core
from incast.diagnose import reading
from incast.errors import CaptureError

if sys.platform == "win32":
    pytest.skip("pipes with names and signals are Unix's", allow_module_level=True)

LONG = 60.0  # seconds; a process that takes longer hangs
SOON = 5.0  # seconds; about one second on a machine that is not busy
HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)


def frame(number: int, protocol: int = 6) -> bytes:
    """Return the pcap record of a frame with a segment of one byte."""
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 41, number % 65536, 0, 64, protocol, 0,
                     bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))  # fmt: skip
    tcp = struct.pack(">HHIIBBHHH", 5000, 6000, number, 1, 0x50, 16, 500, 0, 0)
    data = bytes(12) + b"\x08\x00" + ip + tcp + b"x"
    seconds, part = divmod(number * 1000, 1_000_000_000)
    return struct.pack("<IIII", 1_700_000_000 + seconds, part, len(data), len(data)) + data


def large(directory: Path, protocol: int = 6) -> Path:
    """Return a capture of 14 GB, compressed to a few megabytes."""
    path = directory / "large.pcap.gz"
    frames = b"".join(frame(number, protocol) for number in range(50)) * 1000
    path.write_bytes(gzip.compress(HEADER) + gzip.compress(frames) * 4000)
    return path


class Reader:
    """A running command, with its standard input and its outputs."""

    def __init__(self, paths: tuple[object, ...]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "incast", "diagnose", "--format", "json", *map(str, paths)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def interrupt(self, times: int = 1) -> dict[str, Any]:
        """Send Ctrl-C; check that the process prints only the report, within `SOON` seconds."""
        assert self.process.poll() is None, "it had not ended"
        sent = time.monotonic()
        for _ in range(times):
            self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=LONG)
        assert time.monotonic() - sent < SOON
        assert (err, self.process.returncode) == (b"", 0)
        report: dict[str, Any] = json.loads(out)
        assert report["interrupted"]
        return report

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Wait until the reading has begun, according to `ready`."""
        for _ in range(int(LONG / 0.05)):
            assert self.process.poll() is None, self.process.communicate()
            if ready():
                time.sleep(0.3)
                return
            time.sleep(0.05)
        raise AssertionError("the reading does not begin")

    def has(self, path: Path) -> bool:
        """Whether the process has a file open."""
        folder = Path(f"/proc/{self.process.pid}/fd")
        return any(_target(link) == str(path) for link in folder.iterdir())

    def waits(self) -> bool:
        """Whether a thread of the process waits for an input."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/comm")
        return any(one.read_text().strip() == "capture input" for one in threads)


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


@contextmanager
def reader(*paths: object) -> Iterator[Reader]:
    """Run the command, and end its process afterwards."""
    if not Path("/proc/self/task").exists():
        pytest.skip("what a process waits for is seen in /proc")
    one = Reader(paths)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Make a named pipe."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("protocol", [6, 17])
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_a_large_file_is_read(tmp_path: Path, protocol: int, times: int) -> None:
    path = large(tmp_path, protocol)
    with reader(path) as one:
        one.wait_until(lambda: one.has(path))
        report = one.interrupt(times)
    [file] = report["files"]
    assert 0 < file["frames"] < 200_000_000
    assert report["packets"] == (file["frames"] if protocol == 6 else 0)
    assert "was not read to its end" in file["notes"]


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_a_pipe_has_no_writer(pipe: Path, times: int) -> None:
    with reader(pipe) as one:
        one.wait_until(one.waits)
        report = one.interrupt(times)
    assert (report["packets"], report["incast"]) == (0, None)
    [file] = report["files"]
    assert (file["path"], file["frames"]) == (str(pipe), 0)
    assert file["notes"] == ["was not read to its end"]


@pytest.mark.parametrize(
    "start",
    [b"", HEADER[:10], HEADER, HEADER + frame(1), b"\x1f\x8b"],
    ids=["nothing", "half a header", "a header", "a packet", "half of gzip"],
)
def test_ctrl_c_while_a_pipe_is_silent(pipe: Path, start: bytes) -> None:
    with reader(pipe) as one, pipe.open("wb") as writer:
        writer.write(start)
        writer.flush()
        one.wait_until(one.waits)
        report = one.interrupt()
    assert report["packets"] == (len(start) > len(HEADER))


def test_ctrl_c_while_standard_input_is_silent() -> None:
    with reader("-") as one:
        stdin = one.process.stdin
        assert stdin is not None
        stdin.write(HEADER + frame(1) + frame(2) + frame(3)[:20])
        stdin.flush()
        one.wait_until(one.waits)
        report = one.interrupt()
    assert report["packets"] == 2


def test_ctrl_c_while_packets_come_slowly(pipe: Path) -> None:
    over = threading.Event()

    def write() -> None:
        with pipe.open("wb", buffering=0) as writer:
            writer.write(HEADER)
            number = 0
            while not over.wait(0.01):
                number += 1
                try:
                    writer.write(frame(number))
                except BrokenPipeError:
                    return

    with reader(pipe) as one:
        writing = threading.Thread(target=write)
        writing.start()
        try:
            one.wait_until(one.waits)
            time.sleep(0.5)
            report = one.interrupt()
        finally:
            over.set()
            writing.join()
    assert report["packets"] > 20
    assert report["connections"] == 1


def test_ctrl_c_while_one_of_two_captures_is_silent(tmp_path: Path, pipe: Path) -> None:
    path = tmp_path / "whole.pcap"
    path.write_bytes(HEADER + frame(1) + frame(2))
    with reader(path, pipe) as one, pipe.open("wb") as writer:
        writer.write(HEADER)
        writer.flush()
        one.wait_until(one.waits)
        report = one.interrupt()
    assert [file["packets"] for file in report["files"]] == [2, 0]


def test_a_second_ctrl_c_that_comes_with_the_first_is_one(pipe: Path) -> None:
    before = signal.getsignal(signal.SIGINT)

    def twice(share: float | None, left: float | None) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    report = reading.diagnose([pipe], progress=twice)
    assert report["interrupted"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_leaves_when_the_first_has_not_helped(
    pipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PATIENCE", -1.0)
    with pytest.raises(KeyboardInterrupt):
        reading.diagnose([pipe], progress=lambda *_: os.kill(os.getpid(), signal.SIGINT))


def test_an_interrupt_that_is_ignored_stops_nothing(tmp_path: Path, pipe: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        writing = threading.Thread(target=lambda: pipe.write_bytes(HEADER + frame(1)))

        def progress(share: float | None, left: float | None) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            if not writing.is_alive():
                writing.start()

        report = reading.diagnose([pipe], progress=progress)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (report["packets"], report["interrupted"]) == (1, False)


def test_a_thread_may_read_without_signals(tmp_path: Path) -> None:
    path = tmp_path / "one.pcap"
    path.write_bytes(HEADER + frame(1))
    reports: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: reports.append(reading.diagnose([path])))
    thread.start()
    thread.join()
    assert [report["packets"] for report in reports] == [1]


@pytest.mark.parametrize("content", [b"", b"no capture, but longer than 24 bytes"])
def test_a_pipe_without_a_capture_is_one_line(command: Command, pipe: Path, content: bytes) -> None:
    writing = threading.Thread(target=lambda: pipe.write_bytes(content))
    writing.start()
    done = command("diagnose", pipe)
    writing.join()
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(pipe) in done.err


def test_a_path_that_cannot_be_read_is_one_line(command: Command, tmp_path: Path) -> None:
    for path, why in [(tmp_path / "none.pcap", "no such file"), (tmp_path, "is a directory")]:
        done = command("diagnose", path)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert why in done.err


def test_errors_of_the_reading_are_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.pcap"
    path.write_bytes(HEADER + frame(1))
    with pytest.raises(CaptureError, match="vantage: 'elsewhere': must be one of client, server"):
        reading.diagnose([path], vantage="elsewhere")
    for flows in (1, 65_536, 2**80, "3", 3.0):
        with pytest.raises(CaptureError, match=f"flows: {flows!r}: must be 2 to 65535"):
            reading.diagnose([path], flows=flows)  # type: ignore[arg-type]

    class Panic(BaseException):
        """An exception like the one that a panic in Rust raises."""

    class Broken:
        bytes_read = 0

        def __init__(self, paths: list[str]) -> None: ...
        def open(self) -> None: ...
        def stop(self) -> None: ...
        def diagnose(self, vantage: str | None, flows: int) -> str:
            raise Panic

    monkeypatch.setattr(reading, "Captures", Broken)
    with pytest.raises(Panic):
        reading.diagnose([path])


def test_ctrl_c_while_packets_are_read_a_second_time(tmp_path: Path) -> None:
    captures = reading.opened([str(large(tmp_path))])
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    sent = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        captures.packets(0, 2**62, 1)
    assert time.monotonic() - sent < SOON
    timer.join()


def test_captures_are_opened_when_they_are_read(tmp_path: Path, pipe: Path) -> None:
    path = tmp_path / "one.pcap"
    path.write_bytes(HEADER + frame(1))
    _core.Captures([str(pipe)])
    captures = _core.Captures([str(path)])
    captures.open()
    captures.open()
    assert captures.packets(0, 2**62, 9)["seq"].tolist() == [1]
    for call in (captures.open, lambda: captures.diagnose(None, 3)):
        with pytest.raises(RuntimeError, match="have been read"):
            call()
    with pytest.raises(ValueError, match="no such file"):
        _core.Captures([str(tmp_path / "none")]).open()


def test_ctrl_c_while_pictures_are_drawn_leaves_the_page(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> list[tuple[str, str]]:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
        raise AssertionError("it was not interrupted")

    monkeypatch.setattr("incast.diagnose.pictures.of", interrupted)
    out = tmp_path / "report.html"
    file = captures.read(tmp_path / "a.pcap", servers=8, lost=3)
    assert command("diagnose", file, "--format", "html", "-o", out).code == 0
    assert "Incast" in out.read_text("utf-8")
