"""The first sentences of `incast diagnose`, for whole and for incomplete captures."""

import json
import os
import sys
import threading
from pathlib import Path

import pytest

import captures
from conftest import Command

EVIL = "\x1b[2J\x9b1mred\r\nNo incast: forged\u202e.pcap"
HARMLESS = r"\x1b[2J\x9b1mred No incast: forged\u202e.pcap"


def is_harmless(text: str) -> bool:
    """Whether a text has only printable characters, non-breaking spaces and line feeds."""
    return text.translate(dict.fromkeys(map(ord, "\n\xa0\u202f"))).isprintable()


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such names")
@pytest.mark.parametrize("form", ["table", "html"])
def test_the_name_of_a_file_is_shown_harmless(command: Command, tmp_path: Path, form: str) -> None:
    file = captures.read(tmp_path / EVIL, servers=4)
    file.write_bytes(file.read_bytes()[:-7])
    done = command("diagnose", file, "--format", form)
    assert (done.code, done.err) == (0, "")
    assert f"{HARMLESS}: is cut in the middle of a frame" in done.out
    assert is_harmless(done.out)
    assert not any(line.startswith("No incast: forged") for line in done.out.splitlines())


def test_the_answer_comes_first(command: Command, tmp_path: Path) -> None:
    done = command("diagnose", captures.read(tmp_path / "a.pcap", servers=8, lost=3))
    first, second, third = done.out.splitlines()[:3]
    assert first == (
        "Incast: it costs 99\xa0% of the time; the block took 203 ms, and would take 2.47 ms "
        "without the waits."
    )
    assert second.startswith("8 flows into 10.0.0.1 begin together and fill the link")
    assert third.endswith("vantage point: client (100\xa0% sure).")


def test_losses_without_a_witness_are_no_incast(command: Command, tmp_path: Path) -> None:
    file = captures.built(servers=8, lost=3, counted=False).write(tmp_path / "a.pcap")
    out = command("diagnose", file).out
    assert not out.startswith(("Incast", "Mild"))
    assert "cannot tell  3" in out


def test_a_tunnelled_read_says_so_and_has_pictures(command: Command, tmp_path: Path) -> None:
    capture = captures.built(servers=8, lost=3)
    count = len(capture.frames)
    capture.frames = [(time, captures.inside_ip(frame)) for time, frame in capture.frames]
    file = capture.write(tmp_path / "a.pcap")
    out = command("diagnose", file).out
    assert out.startswith("Incast: it costs 99")
    assert f"\n{count} packets were inside IP in IP.\n" in out
    done = command("diagnose", file, "--format", "html")
    assert (done.code, done.out.count("data:image/png;base64,")) == (0, 3)


@pytest.mark.parametrize(
    ("of_client", "lack", "sentence"),
    [
        (False, "one_direction", "The capture has only one direction of the connections."),
        (True, "one_direction", "The capture has only one direction of the connections."),
    ],
)
def test_an_incomplete_capture_says_so_first(
    command: Command, tmp_path: Path, of_client: bool, lack: str, sentence: str
) -> None:
    capture = captures.built(servers=8, lost=3)
    capture.frames = [one for one in capture.frames if captures.is_of_client(one[1]) is of_client]
    file = capture.write(tmp_path / "a.pcap")
    assert json.loads(command("diagnose", file, "--format", "json").out)["incomplete"] == [lack]
    first, second = command("diagnose", file).out.splitlines()[:2]
    assert first.startswith("Cannot tell whether this is incast: ")
    assert second.startswith(sentence)
    assert command("diagnose", file, "--format", "html").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are Unix's")
def test_a_named_pipe_is_read_once(command: Command, tmp_path: Path) -> None:
    data = captures.read(tmp_path / "a.pcap", servers=8, lost=3).read_bytes()
    pipe, out = tmp_path / "pipe", tmp_path / "report.html"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    assert command("diagnose", pipe, "--format", "html", "-o", out).code == 0
    writer.join(10)
    assert "Incast: it costs" in out.read_text(encoding="utf-8")
    assert "data:image/png" not in out.read_text(encoding="utf-8"), "it cannot be read again"
