"""`incast advise`: the changes, their gains, and the commands that apply and undo them."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

COLLAPSES = """\
title = "A read that collapses"
[network]
rate = "1Gbps"
delay = "25us"
buffer = "64KiB"
[workload]
name = "barrier-read"
servers = 16
sru = "32KiB"
blocks = 4
request_jitter = "10us"
connections = "persistent"
[transport]
name = "newreno"
"""
FEW = COLLAPSES.replace("servers = 16", "servers = 2")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(COLLAPSES)
    return path


def asked(command: Command, *arguments: object) -> dict[str, Any]:
    """Return the advice as an object, from the JSON output."""
    result = command("advise", *arguments, "--format", "json")
    assert (result.code, result.err) == (0, "")
    advice: dict[str, Any] = json.loads(result.out)
    return advice


def test_a_collapse_has_a_verdict_a_resource_and_fixes(command: Command, file: Path) -> None:
    advice = asked(command, file)
    assert advice["verdict"]["collapsed"] is True
    low, high = advice["verdict"]["collapses_between"]
    assert low < high <= 16
    assert advice["limiting_resource"]["name"] == "timer"
    parties = [fix["who"] for fix in advice["fixes"]]
    assert len(parties) == len(set(parties)) >= 2, "one fix for every party that can help"
    assert {"application", "server hosts"} <= set(parties)
    assert advice["confirmed"]
    for fix in [*advice["fixes"], *advice["other_fixes"]]:
        assert all((fix["text"], fix["rollback"], fix["price"], fix["risk"]))
        gain = fix["goodput_gain"]
        assert 1 < gain["ratio_ci95_low"] <= gain["ratio"] <= gain["ratio_ci95_high"]
        assert fix["p99_gain"]["ratio"] <= 1.01
    assert len(advice["tried"]) > 10
    assert all(one["why"] for one in advice["tried"])
    assert advice["envelope"]["word"] in {"inside", "near", "outside"}
    assert Path(advice["envelope"]["page"]).suffix == ".md"
    assert {one["name"] for one in advice["research"]} >= {"ictcp", "head-tail"}
    assert {one["what"] for one in advice["sensitive_to"]} <= {
        "buffer",
        "round trip",
        "bytes per server",
    }
    assert all(one["measure"] for one in advice["sensitive_to"])
    assert all(fix["quiet_p50_ratio"] > 0 for fix in advice["fixes"])


def test_nothing_is_advised_where_nothing_is_lost(command: Command, tmp_path: Path) -> None:
    (tmp_path / "few.toml").write_text(FEW)
    advice = asked(command, tmp_path / "few.toml", "--set", "network.buffer=auto")
    assert advice["verdict"]["collapsed"] is False
    assert advice["limiting_resource"]["name"] == "line"
    assert all(fix["goodput_gain"]["ratio"] < 1.2 for fix in advice["fixes"])


def test_the_page_has_the_words_and_the_way_back(command: Command, file: Path) -> None:
    result = command("advise", file)
    assert (result.code, result.err) == (0, "")
    assert "Limiting resource: " in result.out
    assert "\n1. " in result.out
    assert "\nUndo:\n    " in result.out
    assert "Tried, but not advised" in result.out


def test_a_page_for_a_ticket_loads_nothing(command: Command, file: Path) -> None:
    result = command("advise", file, "--format", "html")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("<!doctype html>")
    assert "<pre>" in result.out
    assert "http" not in result.out.replace("HttpPiece", "").replace("HttpReader", "")


def test_each_value_of_a_sweep_has_an_answer(command: Command, file: Path) -> None:
    sweep = ("--set", "sweep.transport.rto_min=['200ms', '1ms']", "--budget", "2s")
    first, second = json.loads(command("advise", file, *sweep, "--format", "json").out)
    assert first["value"] == "transport.rto_min = 200ms"
    assert second["value"] == "transport.rto_min = 1ms"
    assert first["limiting_resource"]["name"] != second["limiting_resource"]["name"]
    page = command("advise", file, *sweep, "--format", "html").out
    assert page.count("Limiting resource: ") == page.count("<h1>transport.rto_min") == 2


def test_advice_may_be_for_a_bound_of_the_slowest_blocks(command: Command, file: Path) -> None:
    advice = asked(command, file, "--for", "p999<20ms", "--budget", "4s")
    assert advice["goal"] == "p999<20ms"
    assert advice["fixes"][0]["keeps_the_bound"]
    assert advice["fixes"][0]["p999_gain"]["after_s"] < 0.02
    assert "p999_ratio" in advice["tried"][0]
    told = command("advise", file, "--for", "p99<1ns", "--budget", "2s").out
    assert "No fix certainly brings p99 below 1 ns." in told


def test_its_own_throttle_counts_as_fan_in(command: Command, file: Path) -> None:
    advice = asked(command, file, "--app", "spark", "--throttle", "spark.reducer.maxReqsInFlight=2")
    assert advice["verdict"]["collapsed"] is False
    assert any("maxReqsInFlight" in note for note in advice["notes"])


def test_the_largest_number_of_servers_of_a_sweep_counts(command: Command, file: Path) -> None:
    advice = asked(command, file, "--set", "sweep.workload.servers=[2, 16, 8]", "--budget", "2s")
    assert advice["verdict"]["servers"] == 16
    assert "the largest number of servers in the sweep" in advice["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--set", f"sweep.workload.blocks={list(range(1, 30))}"),
            "has more than 24 values",
        ),
        (("--for", "p42"), "--for: p42 is not a goal; must be goodput, p99, p999"),
        (("--budget", "soon"), "--budget"),
        (("--budget", "0s"), "must be above 0"),
        (("--app", "excel"), "--app: must be one of spark, ceph"),
        (("--app", "ceph", "--throttle", "slots=3"), "setting of ceph: objecter_inflight_ops"),
        (("--app", "spark", "--throttle", "spark.reducer.maxReqsInFlight=x"), "KEY=NUMBER"),
        (("--throttle", "slots=3"), "--throttle: needs --app"),
    ],
)
def test_a_mistake_is_one_line(
    command: Command, file: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = command("advise", file, *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert result.err.count("\n") == 1


SS = """\
ESTAB 0 0 10.0.0.9:51000 10.0.0.1:80
\t cubic rto:201 rtt:0.5/0.1 mss:1448 minrtt:0.12
ESTAB 0 0 10.0.0.9:51002 10.0.0.2:80
\t cubic rto:204 rtt:1.5/0.6 mss:1448 minrtt:0.11
"""


def test_files_of_a_user_are_enough(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ss.txt").write_text(SS)
    advice = asked(
        command, "--from", tmp_path / "ss.txt", "--set", "network.rate=1Gbps", "--budget", "2s"
    )
    assert advice["verdict"]["servers"] == 2
    assert any("ss.txt (ss -tin): 2 connections to 2 hosts" in note for note in advice["notes"])
    assert any(note.startswith("Assumed: ") for note in advice["notes"])


def test_what_no_file_says_is_asked_for(command: Command, tmp_path: Path) -> None:
    (tmp_path / "sysctl.txt").write_text("net.ipv4.tcp_sack = 1\n")
    result = command("advise", "--from", tmp_path / "sysctl.txt")
    assert result.code == 2
    assert "add --set workload.servers=N" in result.err
    assert command("advise").code == 2
