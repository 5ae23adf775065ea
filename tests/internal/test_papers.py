"""The texts in `papers/`: every figure can be run, and its claims agree with arithmetic."""

from pathlib import Path

import pytest

from incast.reproduce import papers as texts
from incast.reproduce.data import Curves
from incast.reproduce.execute import counts, reproduce
from incast.reproduce.judge import Verdict, judge
from incast.reproduce.runs import lay_out
from incast.sweep.work import packets

REAL = texts.load(texts.folder())


def test_every_figure_of_the_texts_can_be_run() -> None:
    for one in texts.select(REAL, []):
        for quick in (True, False):
            lay_out(one, quick=quick)


def test_what_arithmetic_decides_holds_or_is_told_to_be_impossible() -> None:
    decided = 0
    for one in texts.select(REAL, []):
        for claim in one.figure.claims:
            if claim.kind == "arithmetic" and claim.predicate and not claim.predicate.series():
                (found,) = judge([claim], Curves({}, None), None, one.name)
                assert found.verdict in {Verdict.HOLDS, Verdict.IMPOSSIBLE}, found
                decided += 1
    assert decided


@pytest.mark.parametrize("text", sorted(REAL))
def test_the_cheapest_figures_of_a_text_are_judged(text: str, tmp_path: Path) -> None:
    def cost(one: texts.Chosen) -> float:
        jobs = lay_out(one, quick=True).jobs()
        return sum(packets(job.point.here) for job in jobs) or float("inf")

    drawn = [one for one in texts.select(REAL, [text]) if one.figure.kind != "claims"]
    done = reproduce(sorted(drawn, key=cost)[:2], tmp_path / "out", quick=True)
    assert [one.curves.unfinished for one in done] == [0] * len(done)
    assert None not in [one.picture for one in done]
    found = counts(done)
    assert found[Verdict.HOLDS] + found[Verdict.FAILS] + found[Verdict.TWICE] > 0
