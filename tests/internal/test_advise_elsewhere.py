"""Losses without a collapse: whether the port explains them, and commands for other places."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incast
from conftest import Command
from incast.advise import advise
from incast.advise.case import case_of
from incast.advise.elsewhere import PLACES, Elsewhere, elsewhere
from incast.advise.goal import goal_of
from incast.advise.page import page
from incast.advise.pieces import joined, of_whole
from incast.advise.search import Found, Tried
from incast.advise.trials import Clock, Trials
from incast.advise.unknowns import sensitive

READ: dict[str, Any] = {
    "profile": "linux",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "64KiB"},
    "workload": {"servers": 4, "sru": "8KiB", "blocks": 2, "request_jitter": "1us"},
}
CASE = case_of(incast.load(READ))


def rows(queue: list[float], drops: list[int], status: str = "ok") -> pl.DataFrame:
    return pl.DataFrame(
        {"status": [status] * len(queue), "queue_max_packets": queue, "drops": drops}
    )


@pytest.mark.parametrize(
    ("queue", "drops", "burst", "lost"),
    [
        ([12.0, 20.0, 7.0], [0, 0, 0], 20, 0.0),  # the largest of all runs
        ([0.0], [0], 0, 0.0),
        ([43.0, 43.0], [3, 0], 43, 1.5),
        ([60.0], [0], 43, 0.0),  # 60 small packets count as 43, the buffer's full-size packets
    ],
)
def test_the_burst_is_the_longest_queue_of_all_runs(
    queue: list[float], drops: list[int], burst: int, lost: float
) -> None:
    assert CASE.here.buffer_packets == 43
    told = elsewhere(CASE, rows(queue, drops))
    assert told == Elsewhere(burst, 43, lost)


def test_the_packet_in_service_counts_where_the_buffer_counts_it() -> None:
    document = READ | {"network": READ["network"] | {"buffer_counts_in_service": True}}
    told = elsewhere(case_of(incast.load(document)), rows([20.0], [0]))
    assert told is not None
    assert told.burst == 21


def test_without_a_run_nothing_is_said() -> None:
    assert elsewhere(CASE, rows([20.0], [0], "failed")) is None


def test_the_sentence_says_which_place_it_is() -> None:
    assert Elsewhere(20, 43).sentence() == (
        "The burst takes 20 of the 43 packets that fit into the port to the client, and the port "
        "loses no packet. If you see losses, look elsewhere:"
    )
    assert Elsewhere(20, 43).places == PLACES
    full = Elsewhere(43, 43, 1.5)
    assert full.sentence() == (
        "The burst fills the port to the client, which holds 43 packets and drops 1.5 per run. "
        "These losses are repaired in time. Losses alone are not a collapse."
    )
    assert full.places == ()


def test_a_command_shows_every_place() -> None:
    commands = " ".join(one.command for one in PLACES)
    for tool in ("ip -s link", "ethtool -S", "tc -s qdisc", "nstat -az"):
        assert tool in commands


def test_a_page_says_it_where_nothing_collapses() -> None:
    advice = advise(READ, budget=2)
    assert advice.elsewhere is not None
    assert 0 < advice.elsewhere.burst <= 43
    told = advice.to_dict()["elsewhere"]
    assert (told["burst_packets"], told["buffer_packets"]) == (advice.elsewhere.burst, 43)
    assert [one["command"] for one in told["places"]] == [one.command for one in PLACES]
    html = page([("", advice)])
    assert advice.elsewhere.sentence() in html
    assert "ethtool -S eth0" in html


def test_the_command_prints_it_with_the_commands(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    tables = [(name, READ[name]) for name in ("network", "workload")]
    lines = [f"{key} = {json.dumps(value)}" for _, one in tables for key, value in one.items()]
    network, workload = lines[:3], lines[3:]
    parts = ['profile = "linux"', "[network]", *network, "[workload]", *workload]
    file.write_text("\n".join(parts))
    text = command("advise", file, "--budget", "2s").out
    assert "packets that fit into the port to the client" in text
    for one in PLACES:
        assert f"\n    {one.command}\n" in text
        assert one.shows in text.replace("\n", " ")


def test_a_collapse_has_no_other_place() -> None:
    workload = READ["workload"] | {"servers": 40, "sru": "64KiB"}
    advice = advise(READ | {"workload": workload}, budget=2)
    assert advice.collapsed
    assert advice.elsewhere is None
    assert advice.to_dict()["elsewhere"] is None


def test_no_fix_has_two_reasons() -> None:
    advice = advise(READ, budget=2)
    (fix, other, *_) = [one.fix for one in advice.found.tried]
    none = Found([], [Tried(fix, "no time left to simulate it")])
    assert replace(advice, found=none).nothing() == (
        "The time ended before any fix was tried: increase --budget."
    )
    some = Found([], [*none.tried, Tried(other, "changes nothing", 1.0)])
    assert replace(advice, found=some).nothing() == "No fix that was tried has a significant gain."


@pytest.mark.parametrize(
    ("buffer", "factor", "said"),
    [
        ("400KiB", 2.0, []),  # no collapse, either before or after the change
        ("128KiB", 0.5, ["there is a collapse"]),
        ("64KiB", 2.0, ["there is no collapse"]),
        ("24KiB", 2.0, []),  # a collapse both before and after the change
    ],
)
def test_what_an_unknown_changes_is_measured_at_the_case(
    buffer: str, factor: float, said: list[str]
) -> None:
    document = {
        "profile": "linux",
        "network": {"rate": "1Gbps", "delay": "25us", "buffer": buffer},
        "workload": {
            "servers": 16,
            "sru": "32KiB",
            "blocks": 4,
            "request_jitter": "1us",
            "connections": "persistent",
        },
    }
    case = case_of(incast.load(document))
    found = sensitive(case, [], Trials(case), Clock(float("inf")), goal_of(None))
    of_buffer = [one.said for one in found if (one.name, one.factor) == ("buffer", factor)]
    assert of_buffer == said


def test_pieces_are_joined_to_whole_blocks() -> None:
    times = [1.0, 2.0, 3.0, 4.0, 5.0]
    assert joined(times, 2) == [3.0, 7.0]
    assert joined(times, 1) == times
    assert of_whole("completion_p50_s", 9.0, times, 2) == 7.0
    assert of_whole("completion_p99_s", 9.0, times, 2) == 7.0
    assert of_whole("completion_s", 9.0, times, 2) == 5.0
    assert of_whole("blocks", 5.0, times, 2) == 2.0
    assert of_whole("goodput_bps", 9.0, times, 2) == 9.0
    assert of_whole("completion_p99_s", 9.0, times, 1) == 9.0
    assert of_whole("completion_p99_s", 9.0, times, 6) is None


def test_trials_compare_whole_blocks() -> None:
    case = case_of(incast.load(READ | {"workload": READ["workload"] | {"sru": "64KiB"}}))
    trials = Trials(case)
    changes = {"workload.sru": "16KiB", "workload.blocks": 8}
    assert trials.add("pieces", changes, 4)
    assert trials.add("blocks", changes)
    trials.run(["", "pieces", "blocks"], range(1, 3), Clock(float("inf")))
    mean = trials.mean("blocks", range(1, 3), "completion_s")
    assert mean is not None
    assert trials.mean("pieces", range(1, 3), "completion_s") == pytest.approx(4 * mean)
    assert trials.mean("pieces", range(1, 3), "blocks") == 2
