"""The commands on pages: the quick ones run here, and `python -m validation.pages` runs all."""

from pathlib import Path

import pytest

from validation.pages import blocks, lists, play
from validation.pages.blocks import Step


@pytest.mark.parametrize("page", lists.GATE)
def test_every_command_of_a_page_runs_as_printed(page: str, tmp_path: Path) -> None:
    assert play.page(page, tmp_path) == []


def test_what_cannot_run_is_listed_for_a_command_that_is_there() -> None:
    steps = [step for page in blocks.pages() for step in blocks.steps(page)]
    causes = [lists.cause(step) for step in steps]
    unused = [why for _, why in lists.CANNOT if why not in causes]
    assert unused == []
    assert causes.count(None) > len(steps) / 2
    known = set(blocks.pages())
    assert {*lists.GATE, *lists.PREPARED, *lists.MINE, *lists.READS} <= known


def test_outputs_are_compared_word_by_word() -> None:
    printed = ("a 12 b", "…", "end of it")
    assert not blocks.differs(printed, "a 12\nb\nmore\nend of\nit\n", [])
    assert blocks.differs(printed, "a 13 b more end of it", [])
    assert blocks.differs(printed, "a 12 b more end of it, and more", [])
    assert not blocks.differs(("took 3 s",), "took 4 s", [(r"\d+ s", "T")])
    assert not blocks.differs((), "anything", [])


def test_a_command_that_fails_or_answers_otherwise_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        blocks,
        "blocks",
        lambda _: [
            [
                Step("p", 1, "false", ()),
                Step("p", 2, "echo $?", ("1",)),
                Step("p", 3, "echo one  # a comment", ("two",)),
                Step("p", 4, "make x", ("never",)),
            ]
        ],
    )
    wrong = play.page("docs/how-to/watch.md", tmp_path)
    assert [one.partition("\n")[0] for one in wrong] == ["p:1: false", "p:3: echo one  # a comment"]
