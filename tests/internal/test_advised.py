"""The study of advice on real hosts: commands run on the right host, and gains are judged."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import incast
from incast.advise.case import case_of
from incast.advise.fixes import Who, catalogue
from incast.advise.readers import sonic
from incast.client import HttpPiece, Slot
from validation.advised import apps, config
from validation.advised.apps import Application
from validation.advised.ask import Answer
from validation.advised.draw import SETS, cases
from validation.advised.hosts import Shell, WordsError, database
from validation.advised.judge import judged, of_a_sample, verdicts
from validation.advised.kinds import APPLICATION, kind
from validation.advised.predict import Prediction
from validation.advised.testbed import _parts

READ: dict[str, Any] = {
    "profile": "linux",
    "network": {"rate": "20Mbps", "delay": "25us", "buffer": "32768B"},
    "workload": {"servers": 6, "sru": "16KB", "blocks": 2, "request_jitter": "100us"},
}


def prediction(**changes: Any) -> Prediction:
    given = Prediction(
        READ, "rto_min", "rto_min 10ms", str(Who.SERVERS), "true", "true", 2.0, 1.8, 2.2, 5.0, 10.0
    )
    return replace(given, **changes)


def answers(point: int, before: float, after: float, **more: Any) -> list[Answer]:
    return [
        Answer(point, fixed, 1, 1, "ok", goodput, 0, 2, 10.0, **(more if fixed else {}))
        for fixed, goodput in ((0, before), (1, after))
    ]


def test_words_go_to_their_places_and_back_in_the_opposite_order() -> None:
    fixes = {fix.name: fix for fix in catalogue(case_of(incast.load(READ)))}
    ecn = next(fix for name, fix in fixes.items() if name.startswith("ECN"))
    text, back = _parts(ecn.text, "switch"), _parts(ecn.rollback, "switch")
    assert ["switch" in place for place, _ in text] == [True, False]
    assert ["switch" in place for place, _ in back] == [False, True]
    assert "sysctl" in text[1][1]
    assert "sysctl" in back[0][1]
    assert _parts(fixes["rto_min 10ms"].text, "servers")[0][0] == "servers"


def test_a_shell_keeps_variables_and_tells_what_failed() -> None:
    with Shell() as shell:
        assert shell.tell("OLD=7") == ""
        assert shell.tell('echo "old $OLD"') == "old 7\n"
        with pytest.raises(WordsError, match="missing"):
            shell.tell("cat missing")


def test_the_switch_merges_and_restores_its_configuration(tmp_path: Path) -> None:
    here = incast.load(READ).plan.points[0].here
    file = tmp_path / config.DATABASE
    file.write_text(json.dumps(database(here), indent=4) + "\n")
    before = file.read_bytes()
    told = sonic.read(file.read_text(), "x").changes
    assert told == {"network.rate": "20Mbps", "network.buffer": "32768B"}
    fix = next(
        fix for fix in catalogue(case_of(incast.load(READ))) if fix.name == "4 times the buffer"
    )
    script = f'sudo() {{ "$@"; }}\nconfig() {{ {sys.executable} {config.__file__} "$@"; }}'
    with Shell(prelude=script, folder=tmp_path) as shell:
        shell.tell(fix.text)
        assert sonic.read(file.read_text(), "x").changes["network.buffer"] == "131072B"
        assert "pool" in file.read_text()
        shell.tell(fix.rollback)
    assert file.read_bytes() == before


@pytest.mark.parametrize("alpha", ["2^-4", "2^-1", "1", "2^2"])
def test_a_shared_buffer_is_what_the_switch_says(alpha: str) -> None:
    buffer = {"name": "dynamic", "total": "131072B", "alpha": alpha}
    document = READ | {"network": READ["network"] | {"buffer": buffer}}
    here = incast.load(document).plan.points[0].here
    told = sonic.read(json.dumps(database(here)), "x").changes["network.buffer"]
    again = incast.load(READ | {"network": READ["network"] | {"buffer": told}})
    assert again.plan.points[0].here.dynamic == here.dynamic


def test_printed_code_reads_every_block_from_every_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The printed code for every application runs against servers that answer immediately."""
    scenario = incast.load(READ | {"workload": READ["workload"] | {"connections": "fresh"}})
    here = scenario.plan.points[0].here
    asked: list[str] = []

    async def answer(url: str) -> None:
        asked.append(url)

    async def fetch(
        _: object, piece: HttpPiece, slot: Slot, write: Callable[[bytes], object]
    ) -> None:
        asked.append(piece.url)
        slot.received(here.sru)
        write(bytes(here.sru))

    async def connect(_: object, piece: HttpPiece) -> None:
        pass

    monkeypatch.setattr(apps, "answer", answer)
    monkeypatch.setattr("incast.client.HttpReader.fetch", fetch)
    monkeypatch.setattr("incast.client.HttpReader.connect", connect)
    star: Any = SimpleNamespace(hosts=range(1 + here.servers))
    seen = set()
    for fix in catalogue(case_of(scenario)):
        if kind(fix.name) not in APPLICATION:
            continue
        code = fix.text.replace("asyncio.sleep(", "asyncio.sleep(1e-6 * ")
        application = Application(here, star, 1, code)
        asked.clear()
        asyncio.run(application._program()(application._blocks()))
        urls = [f"http://10.77.0.{n + 1}:{apps._port(n)}/piece" for n in range(1, 7)]
        assert sorted(asked) == sorted(urls * 2), fix.name
        assert len(application.summary.completions) == 2
        seen.add(kind(fix.name))
    assert seen == APPLICATION


def test_gains_are_judged_by_their_ratio() -> None:
    two = [prediction(), prediction(ratio=4.0)]
    told = answers(0, 5, 12, changed=1, restored=1) + answers(1, 5, 12, changed=1, restored=0)
    told.append(Answer(0, 1, 2, 1, "untrusted", 99.0, 0, 2, 900.0, 1, 1))
    found = judged(two, told)
    assert [round(one.error, 3) for one in found] == [0.2, -0.4]
    held = {verdict.bar: verdict for verdict in verdicts(found, told)}
    near = next(it for bar, it in held.items() if "within" in bar)
    assert (near.measured, near.holds, len(near.misses)) == ("1 of 2", False, 1)
    back = next(it for bar, it in held.items() if "byte for byte" in bar)
    assert (back.measured, back.holds) == ("2 of 3 times", False)
    assert not next(iter(held.values())).holds, "two fixes are not twenty"


def test_gains_of_the_slowest_blocks_are_judged_by_how_much_shorter_they_are() -> None:
    one = prediction(goal="p99", ratio=4.0, before_ms=200.0, after_ms=50.0)
    told = [
        replace(answer, p99_ms=late)
        for answer, late in zip(answers(0, 5, 12), (220.0, 50.0), strict=True)
    ]
    (found,) = judged([one], told)
    assert (found.before, found.after) == (220.0, 50.0)
    assert round(found.error, 3) == 0.1


def test_a_prediction_without_trusted_runs_does_not_count() -> None:
    told = [Answer(0, fixed, 1, 1, "untrusted", 5.0, 0, 2, 900.0) for fixed in (0, 1)]
    verdict = verdicts(judged([prediction()], told), told)[0]
    assert verdict.measured == "0 of 1"


def test_a_busy_machine_leaves_the_gain_of_a_sample_open() -> None:
    one = prediction()
    quiet = answers(0, 5, 12, changed=1, restored=1)
    busy = [replace(answer, status="untrusted") for answer in quiet]
    weak = answers(0, 5, 5.5, changed=1, restored=0)
    held = [
        [verdict.holds for verdict in of_a_sample(judged([one], told)[0], told)]
        for told in (quiet, busy, weak)
    ]
    assert held == [[True, True], [True], [False, False]]


def test_the_draw_is_the_same_every_time() -> None:
    for lot in SETS.values():
        first, again = cases(lot), cases(lot)
        assert [next(first) for _ in range(5)] == [next(again) for _ in range(5)]
