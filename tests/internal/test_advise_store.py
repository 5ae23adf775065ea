"""`incast advise --out`: runs are stored, and are not repeated."""

from pathlib import Path
from typing import Any

import pytest

import incast
from conftest import Command
from incast.advise import Advice, Interrupted, advise

SMALL: dict[str, Any] = {
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "32KiB"},
    "workload": {"servers": 6, "sru": "16KiB", "blocks": 2, "request_jitter": "10us"},
    "transport": {"name": "newreno", "rto_min": "10ms"},
}


def gains(advice: Advice) -> list[tuple[str, float, float]]:
    return [(one.fix.name, one.goodput.low, one.goodput.ratio) for one in advice.found.advised]


def test_an_interrupted_search_goes_on_and_a_finished_one_simulates_nothing(tmp_path: Path) -> None:
    place = tmp_path / "kept"

    def stop(advice: Advice) -> None:
        if advice.simulated > 20:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stopped:
        advise(SMALL, budget=None, out=place, listener=stop)
    assert stopped.value.finished > 20

    first = advise(SMALL, budget=None, out=place)
    assert first.reused == stopped.value.finished
    assert first.simulated > first.reused

    again = advise(SMALL, budget=None, out=place)
    assert (again.simulated, again.reused) == (0, first.simulated + first.reused)
    assert gains(again) == gains(first)
    assert again.to_dict()["runs"] == {"simulated": 0, "reused": again.reused}

    other = incast.load(SMALL).override("workload.sru", "8KiB")
    with pytest.raises(Interrupted):
        advise(other, budget=None, out=place, listener=stop)
    assert advise(SMALL, budget=None, out=place).simulated == 0, "another scenario removed runs"


def test_the_verdict_comes_before_any_fix_is_simulated() -> None:
    answers: list[Advice] = []
    advise(SMALL, budget=None, listener=answers.append)
    first, second = answers[:2]
    assert (first.simulated, first.fixes) == (2, [])
    assert first.sentences() == second.sentences()
    assert first.limit == second.limit
    assert second.simulated > 20


def test_only_a_directory_of_its_own_is_taken(command: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text('workload = { servers = 2, blocks = 1, sru = "16KiB" }\n')
    results = tmp_path / "results"
    assert command("run", scenario, "--out", results).code == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("notes")
    (tmp_path / "file").write_text("notes")
    for place in ("results", "notes", "file"):
        before = sorted(tmp_path.rglob("*"))
        refused = command("advise", scenario, "--out", tmp_path / place, "--budget", "1s")
        assert (refused.code, refused.out) == (2, "")
        assert place in refused.err
        assert refused.err.count("\n") == 1
        assert sorted(tmp_path.rglob("*")) == before


def test_ctrl_c_says_how_to_continue(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise Interrupted(7)

    monkeypatch.setattr("incast.advise.advise_each", stopped)
    scenario = tmp_path / "mine.toml"
    scenario.write_text('workload = { servers = 2, sru = "16KiB" }\n')
    lost = command("advise", scenario)
    assert (lost.code, lost.out) == (130, "")
    assert "7 finished runs are lost; with --out DIR" in lost.err
    kept = command("advise", scenario, "--out", tmp_path / "kept")
    assert f"are kept in {tmp_path / 'kept'}; run the same command again" in kept.err
