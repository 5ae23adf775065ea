"""Sentences about a capture: the answer, missing packets, tunnels, and escaped names."""

from typing import Any

import pytest

from incast.diagnose import page, text

WHY = "in 4 episodes the link idles for 3.100 s; in the worst, 8 flows into 10.0.0.1 wait"
SEVERITY = {"share": 0.62, "p99_s": 0.412, "p99_without_s": 0.009, "blocks": 40, "mild": False}
NOT_MILD = "62\xa0% of the time; p99 of 40 blocks is 412 ms, and would be 9 ms without the waits."
EVIL = "\x1b[2J\x9b1mred\r\nNo incast: forged\u202e.pcap"
HARMLESS = r"\x1b[2J\x9b1mred No incast: forged\u202e.pcap"


def is_harmless(text: str) -> bool:
    """Whether a text has only printable characters, non-breaking spaces and line feeds."""
    return text.translate(dict.fromkeys(map(ord, "\n\xa0\u202f"))).isprintable()


def report(**changes: Any) -> dict[str, Any]:
    """Return a report about incast, in the form of the core, with some entries changed."""
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
        "The capture has only one direction of the connections. Capture both directions.",
        "The clock of the capture was set back.",
        "This capture alone neither proves incast nor rules it out.",
    ]
    assert text.cannot_tell(seen) == [], "it is said once"
    assert list(text.reasons(report(incomplete=["capture_drops"]))) == [
        (
            "The capture program dropped packets. Shorter frames and a larger buffer help: "
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
