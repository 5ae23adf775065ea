"""The corpus of captures: its halves, its size, and the truth of one scenario."""

import json
import re
from pathlib import Path

import pytest

from validation.captures import kernel, simulate
from validation.captures.__main__ import main
from validation.captures.frames import read
from validation.captures.scenarios import all_cases, on_kernel, simulated
from validation.captures.split import committed, half_of

ROOT = Path(__file__).resolve().parents[2]


def test_the_halves_are_the_committed_ones() -> None:
    cases = all_cases()
    assert committed() == {case.name: half_of(case.name) for case in cases}
    assert len(cases) == len({case.name for case in cases})


def test_the_corpus_is_large_and_many_are_controls() -> None:
    captures = [case for case in all_cases() for _ in case.views]
    controls = [case for case in captures if case.family != "incast"]
    assert len(captures) >= 500
    assert len(controls) >= 0.4 * len(captures)
    for half in ("development", "held-out"):
        families = {case.family for case in all_cases() if half_of(case.name) == half}
        assert families == {case.family for case in all_cases()}, "every look-alike in each half"


def test_a_capture_has_its_truth_beside_it(tmp_path: Path) -> None:
    case = next(case for case in simulated() if case.name == "incast-01")
    for path in simulate.make(case, tmp_path):
        told = json.loads(path.with_suffix(".json").read_text("utf-8"))
        frames = read(path)
        assert told["scenario"] == case.name
        assert told["episodes"], "it has timeouts while the link is idle"
        servers = int(case.document["workload"]["servers"])
        for episode in told["episodes"]:
            assert (episode["receiver"], episode["fan_in"]) == ("10.0.0.1", servers)
            assert set(episode["stalled"]) <= {stall["server"] for stall in told["stalls"]}
        for stall in told["stalls"]:
            inside = [
                frame
                for frame in frames
                if stall["server"] in (frame.source, frame.target)
                and stall["start"] < frame.time < stall["start"] + stall["duration"]
            ]
            assert not inside, "a stall is silent"
            assert stall["cause"]


def test_the_corpus_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert main(["make", str(tmp_path / name), "--only", "capture-drops"]) == 0
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    asked = sum(len(case.views) for case in simulated() if case.family == "capture-drops")
    assert len(files) == 2 * asked + 1 > 100
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    rows = (tmp_path / "a" / "index.csv").read_text("utf-8").splitlines()
    assert len(rows) == asked + 1
    told = json.loads((tmp_path / "a" / "capture-drops-00-0.json").read_text("utf-8"))
    assert told["lost_by_capture"] > 0
    assert (told["drops"], told["stalls"], told["episodes"]) == (0, [], [])


@pytest.mark.skipif(kernel.lacks() is not None, reason=f"real hosts: {kernel.lacks()}")
def test_real_hosts_make_captures_at_three_places(tmp_path: Path) -> None:
    case = next(case for case in on_kernel() if case.family == "zero-window")
    made = kernel.make(case, tmp_path)
    told = [json.loads(path.with_suffix(".json").read_text("utf-8")) for path in made]
    assert [one["vantage"] for one in told] == ["client", "switch", "server:0"]
    assert {one["look_alike"] for one in told} == {"zero-window"}
    assert all(one["episodes"] == [] for one in told)
    assert all(path.stat().st_size > 1000 for path in made)


def test_the_oracle_and_the_diagnosis_have_the_same_causes() -> None:
    """The study compares them by name; the crates do not know each other."""
    files = ("crates/host/src/cause.rs", "crates/diagnose/src/stall.rs")
    oracle, diagnosis = (
        re.findall(r'Self::\w+ => "(\w+)"', (ROOT / file).read_text("utf-8")) for file in files
    )
    assert oracle == diagnosis
    assert len(oracle) == 7
