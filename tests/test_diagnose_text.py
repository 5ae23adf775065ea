"""What `incast diagnose` tells people: the first line, what is missing, and harmless names."""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import captures
from conftest import Command
from incast.diagnose import page, text

WHY = "in 4 episodes the link idles for 3.100 s; in the worst, 8 flows into 10.0.0.1 wait"
SEVERITY = {"share": 0.62, "p99_s": 0.412, "p99_without_s": 0.009, "blocks": 40, "mild": False}
NOT_MILD = "62\xa0% of the time; p99 of 40 blocks is 412 ms, and would be 9 ms without the waits."
EVIL = "\x1b[2J\x9b1mred\r\nNo incast: forged\u202e.pcap"
HARMLESS = r"\x1b[2J\x9b1mred No incast: forged\u202e.pcap"


def is_harmless(text: str) -> bool:
    """Whether there is nothing but letters, blanks that do not break, and ends of lines."""
    return text.translate(dict.fromkeys(map(ord, "\n\xa0\u202f"))).isprintable()


def report(**changes: Any) -> dict[str, Any]:
    """Return a report with incast, as the core makes it, but for the changes."""
    return {
        "incast": True, "why": WHY, "vantage": "client", "vantage_confidence": 0.92,
        "severity": SEVERITY, "incomplete": [], "tunnels": [], "episodes": [], "stalls": [],
        "look_alikes": [], "cannot_tell": [], "parameters": {}, "files": [], "began_s": 0.0,
        "length_s": 5.0, "packets": 344, "connections": 8, "unlisted": 0, "interrupted": False,
    } | changes  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, f"Incast: it costs {NOT_MILD}"),
        (
            {"severity": SEVERITY | {"share": 0.021, "mild": True, "p99_s": 0.012}},
            ("Mild incast: it costs 2\xa0% of the time; p99 of 40 blocks is 12 ms, and would be "
            "9 ms without the waits."),
        ),
        (
            {"severity": SEVERITY | {"share": 0.0004, "mild": True}},
            ("Mild incast: it costs less than 0.1\xa0% of the time; p99 of 40 blocks is 412 ms, "
            "and would be 9 ms without the waits."),
        ),
        (
            {"severity": SEVERITY | {"blocks": 1}},
            ("Incast: it costs 62\xa0% of the time; the block took 412 ms, and would take 9 ms "
            "without the waits."),
        ),
        ({"severity": None}, f"Incast: {WHY}."),
        (
            {"incast": False, "why": "no flow waits", "severity": SEVERITY | {"share": 0.0}},
            "No incast: no flow waits.",
        ),
        ({"incast": None}, f"Cannot tell whether this is incast: waits cost {NOT_MILD}"),
        (
            {"incast": None, "why": "the other servers are not seen", "severity": None},
            "Cannot tell whether this is incast: the other servers are not seen.",
        ),
        (
            {"incast": None, "severity": None, "incomplete": ["filtered"]},
            "Cannot tell whether this is incast: the capture is incomplete.",
        ),
        (
            {"incast": None, "why": "there is no TCP packet in the capture: 3 frames are ARP",
             "severity": None, "packets": 0},
            ("Cannot tell whether this is incast: there is no TCP packet in the capture: 3 frames "
            "are ARP."),
        ),
    ],
)  # fmt: skip
def test_the_first_line_is_the_answer_and_its_cost(changes: dict[str, Any], line: str) -> None:
    assert text.answer(report(**changes)) == line


def test_what_is_missing_comes_before_the_reason() -> None:
    why = "the capture is incomplete: only one direction of the connections is in the file"
    told = {"what": "what happened to packets that are not in the file", "why": "it lacks them"}
    seen = report(
        incast=None, why=why, incomplete=["one_direction", "clock_back"], cannot_tell=[told]
    )
    assert list(text.reasons(seen)) == [
        "Only one direction of the connections is in the capture. Capture both.",
        "The clock of the capture was set back.",
    ]
    assert text.cannot_tell(seen) == [], "it is said once"
    assert list(text.reasons(report(incomplete=["capture_drops"]))) == [
        (
            "The capture has dropped packets. Shorter frames and a larger buffer help: "
            "tcpdump -s 96 -B 65536."
        ),
        WHY.capitalize() + ".",
    ]
    assert list(text.reasons(report(incast=False, why="no flow waits", severity=None))) == []


def test_place_and_tunnels_are_named_once() -> None:
    tunnels = [{"kind": "ERSPAN II", "packets": 135}, {"kind": "GRE", "packets": 1}]
    notes = [
        "135 TCP packets are inside ERSPAN II",
        "1 TCP packet is inside GRE",
        "2 frames are ARP",
    ]
    files = [{"path": "a.pcap", "frames": 138, "packets": 136, "notes": notes}]
    seen = report(tunnels=tunnels, files=files)
    assert list(text.about(seen)) == [
        "344 TCP packets of 8 connections in 5 s; vantage point: client (92\xa0% sure).",
        "135 packets were inside ERSPAN II.",
        "1 packet was inside GRE.",
    ]
    assert list(text.notes(seen)) == ["a.pcap: 2 frames are ARP"]
    unknown = next(text.about(report(vantage=None, vantage_confidence=0.0)))
    assert unknown.endswith("vantage point: unknown.")


def test_names_cannot_forge_lines_or_reach_the_terminal() -> None:
    files = [{"path": EVIL, "frames": 1, "packets": 1, "notes": [f"is cut{EVIL}"]}]
    stall = {
        "flow": EVIL, "start_s": 0.0, "duration_s": 0.2, "cause": None, "confidence": 0.5,
        "ended_by": "timeout", "filter": EVIL,
    }  # fmt: skip
    alike = {"name": "path", "found": True, "where": EVIL, "why": EVIL}
    seen = report(
        why=EVIL, severity=None, files=files, stalls=[stall], look_alikes=[alike],
        tunnels=[{"kind": EVIL, "packets": 1}], cannot_tell=[{"what": EVIL, "why": EVIL}],
        incomplete=[EVIL],
    )  # fmt: skip
    told = [
        text.answer(seen), *text.reasons(seen), *text.about(seen), *text.notes(seen),
        *text.cannot_tell(seen),
        *(cell for rows in (text.stalls, text.look_alikes, text.files) for row in rows(seen)
          for cell in row),
    ]  # fmt: skip
    assert all(is_harmless(line) and "\n" not in line for line in told), told
    assert sum(HARMLESS in line for line in told) >= 9
    assert is_harmless(page.html(seen))


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
        (False, "one_direction", "Only one direction of the connections is in the capture."),
        (True, "one_direction", "Only one direction of the connections is in the capture."),
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
