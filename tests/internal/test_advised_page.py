"""Every part of the printed advice, with cases in which the part is printed and not printed."""

from types import SimpleNamespace
from typing import Any

import pytest

from incast.advise.search import Advised, Gain
from incast.cli import advised
from incast.cli.console import Paper

GAIN = Gain(2e8, 5e8, 4e8 / 2e8, 6e8 / 2e8, 12)
LATE = Gain(0.2, 0.05, 0.2, 0.3, 12)


def one(*, late: Gain | None = LATE, kept: bool = True) -> Advised:
    fix: Any = SimpleNamespace(
        name="a fix", who="server hosts", what="Do it.", text="do it\nagain", rollback="undo it",
        price="It costs.", risk="It may fail.",
    )  # fmt: skip
    return Advised(fix, GAIN, late, kept=kept)


def advice(**changes: Any) -> Any:  # noqa: ANN401 (stands for an `Advice`)
    given = {
        "research": [], "sensitive_to": None, "reused": 0, "simulated": 3, "elsewhere": None,
        "envelope": SimpleNamespace(word="near", why="Why.", page="docs/page.md"),
        "fixes": [one(), one(late=None, kept=False)], "found": SimpleNamespace(confirmed=True),
        "goal": SimpleNamespace(label="p99", bound=None),
        "limit": SimpleNamespace(name="buffer"), "sentences": lambda: ["It collapses."],
    }  # fmt: skip
    return SimpleNamespace(**given | changes)


@pytest.fixture
def paper() -> Paper:
    made = Paper()
    made.room = None
    return made


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line]


LATER = "there was no time for other seeds: increase --budget"
END = "Envelope: near. Why. See docs/page.md."
SURE = "Half or twice the buffer, round trip or answer size would give the same advice."


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, []),
        ({"reused": 7}, ["3 runs simulated; 7 were already stored."]),
        ({"reused": 1, "simulated": 1}, ["1 run simulated; 1 were already stored."]),
        ({"sensitive_to": []}, [SURE]),
        (
            {"sensitive_to": [SimpleNamespace(name="buffer", factor=0.5, said="S", measure="M")]},
            ["Measure this first", "buffer × 0.5: S. M"],
        ),
        (
            {"research": [SimpleNamespace(name="plato", ratio=2.0, what="labels")]},
            ["What remedies from research would gain", "plato: goodput × 2.00 (labels)"],
        ),
    ],
)
def test_the_end_tells_what_there_is(
    paper: Paper, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], told: list[str]
) -> None:
    advised._more(advice(**changes), paper)
    assert lines(capsys) == [*told, END]


def test_an_answer_in_a_few_lines() -> None:
    assert advised.brief(advice()) == [
        "It collapses.",
        "Limiting resource: buffer.",
        "server hosts: a fix, goodput × 2.50, p99 × 0.250",
        "server hosts: a fix, goodput × 2.50",
    ]


@pytest.mark.parametrize(
    ("confirmed", "end"),
    [
        (True, "12 seeds, not used to choose the fixes."),
        (False, f"12 seeds, the ones used to choose the fixes; {LATER}."),
    ],
)
def test_fixes_are_a_table_and_their_commands(
    paper: Paper, capsys: pytest.CaptureFixture[str], confirmed: bool, end: str
) -> None:
    advised._fixes(advice(found=SimpleNamespace(confirmed=confirmed)), paper)
    told = lines(capsys)
    before = "200.0 Mbps and a block p99 of 200 ms without a fix"
    assert f"{before}; {end}" in told
    assert told[-7:] == [
        "2. Do it. (server hosts)",
        "    do it",
        "    again",
        "Undo:",
        "    undo it",
        "Price: It costs.",
        "Risk:  It may fail.",
    ]
    first = next(line for line in told if line.lstrip().startswith("1."))
    for cell in ("server hosts", "a fix", "500", "2.50", "2.00 to 3.00", "0.250", "0.200 to 0.300"):
        assert cell in first


@pytest.mark.parametrize(
    ("kept", "text"),
    [
        ([True, False], "Fixes that certainly bring p99 below 20 ms: 1."),
        ([True, True], "Fixes that certainly bring p99 below 20 ms: 1, 2."),
        ([False, False], "No fix certainly brings p99 below 20 ms."),
    ],
)
def test_a_bound_is_told_with_the_fixes_that_keep_it(kept: list[bool], text: str) -> None:
    told = advice(
        fixes=[one(kept=each) for each in kept], goal=SimpleNamespace(label="p99", bound=0.02)
    )
    assert advised._bound(told) == text


def test_places_elsewhere_are_told_with_their_commands(
    paper: Paper, capsys: pytest.CaptureFixture[str]
) -> None:
    place = SimpleNamespace(name="the card", command="ethtool -S eth0", shows="Drops.")
    there = SimpleNamespace(sentence=lambda: "Look there.", places=[place])
    advised._elsewhere(advice(elsewhere=there), paper)
    assert lines(capsys) == ["Look there.", "    ethtool -S eth0", "The card: Drops."]
    advised._elsewhere(advice(), paper)
    assert lines(capsys) == []
