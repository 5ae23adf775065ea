"""`incast diagnose`: its answers for captures that are built by hand."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import captures
from conftest import Command


def found(command: Command, *arguments: object) -> dict[str, Any]:
    """Return the report as an object."""
    done = command("diagnose", *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    report: dict[str, Any] = json.loads(done.out)
    return report


def alike(report: dict[str, Any], name: str) -> bool | None:
    """Return whether the report found a look-alike."""
    answers: dict[str, bool | None] = {one["name"]: one["found"] for one in report["look_alikes"]}
    return answers[name]


def test_lost_windows_of_a_read_are_an_episode(command: Command, tmp_path: Path) -> None:
    report = found(command, captures.read(tmp_path / "a.pcap", servers=8, lost=3))
    assert report["incast"] is True
    assert report["vantage"] == "client"
    (episode,) = report["episodes"]
    assert (episode["receiver"], episode["fan_in"]) == (captures.CLIENT, 8)
    assert episode["lost_s"] == pytest.approx(0.2, rel=0.1)
    assert len(episode["stalled"]) == 3
    assert {one["cause"] for one in report["stalls"]} == {"full_window"}
    assert all(one["filter"].startswith("frame.number in {") for one in report["stalls"])


def test_a_read_without_losses_is_no_incast(command: Command, tmp_path: Path) -> None:
    report = found(command, captures.read(tmp_path / "a.pcap", servers=8))
    assert report["incast"] is False
    assert report["stalls"] == report["episodes"] == []
    assert not any(one["found"] for one in report["look_alikes"])


def test_a_slow_server_is_named(command: Command, tmp_path: Path) -> None:
    report = found(command, captures.read(tmp_path / "a.pcap", servers=8, late=0.3))
    assert (report["incast"], report["stalls"]) == (False, [])
    assert alike(report, "slow_server") is True


def test_two_flows_are_no_episode_unless_asked(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=2, lost=1)
    assert found(command, file)["incast"] is False
    report = found(command, file, "--flows", 2)
    assert len(report["episodes"]) == 1
    assert report["incast"] is None  # a bad link could also have caused the single loss
    assert "bad link" in report["why"]


def test_a_gzip_file_says_the_same(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=4, lost=1)
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    plain, other = found(command, file), found(command, packed)
    assert {**plain, "files": 0} == {**other, "files": 0}


def test_a_cut_file_is_read_and_says_so(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=4)
    file.write_bytes(file.read_bytes()[:-7])
    done = command("diagnose", file)
    assert done.code == 0
    assert "is cut in the middle of a frame" in done.out


def test_the_scenario_runs(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=8, lost=3)
    out = tmp_path / "read.toml"
    assert command("diagnose", file, "--scenario", out).code == 0
    seen = tomllib.loads(out.read_text())
    assert seen["workload"]["servers"] == 8
    assert seen["workload"]["sru"] == f"{20 * 1460}B"
    assert seen["network"]["rate"] == "1Gbps"
    assert command("run", out, "--seeds", 1, "--format", "json").code == 0


def test_a_page_needs_nothing_from_elsewhere(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "<script>.pcap", servers=8, lost=3)
    out = tmp_path / "report.html"
    assert command("diagnose", file, "--format", "html", "-o", out).code == 0
    page = out.read_text()
    assert "<script" not in page
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "&lt;script&gt;.pcap" in page
    assert page.count('src="data:image/png;base64,') == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.pcap"], "nowhere.pcap: no such file or directory"),
        (["-", "-"], "-: standard input can be read only once"),
        ([__file__], f"{__file__}: must be a pcap or pcapng file (plain, gzip or zstd)"),
        (["."], ".: is a directory"),
    ],
)
def test_a_mistake_is_one_line(command: Command, arguments: list[str], message: str) -> None:
    done = command("diagnose", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"incast: {message}\n"


def test_nothing_is_overwritten_unasked(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=8, lost=3)
    there = tmp_path / "there.json"
    there.write_text("precious")
    for arguments in (
        ("--format", "json", "-o", there),
        ("--scenario", there),
        ("--format", "json", "-o", file, "--overwrite"),
        ("--format", "json", "-o", tmp_path / "b", "--scenario", tmp_path / "b"),
    ):
        done = command("diagnose", file, *arguments)
        assert done.code == 2
        assert done.err.count("\n") == 1
    assert there.read_text() == "precious"
    assert command("diagnose", file, "--format", "json", "-o", there, "--overwrite").code == 0
    assert json.loads(there.read_text())["incast"] is True


def test_what_fails_is_named(command: Command, tmp_path: Path) -> None:
    file = captures.read(tmp_path / "a.pcap", servers=8, lost=3)
    assert "at most 8 begin together" in found(command, file, "--flows", 9)["why"]
    assert command("diagnose", file, "--flows", 10**20).code == 2
