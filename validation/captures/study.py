"""The study: make the held-out half, judge the diagnosis, and write its page.

It holds if every criterion is reached. The sample has a control of each kind.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation.captures import kernel, simulate
from validation.captures.draw import draw
from validation.captures.page import page, worst
from validation.captures.scenarios import all_cases
from validation.captures.scoring import Score, criteria, judge
from validation.captures.split import HELD_OUT, committed
from validation.common.places import ROOT

if TYPE_CHECKING:
    from validation.captures.scenarios import Case

PAGE = ROOT / "docs" / "validation" / "captures.md"
_SAMPLE = ("healthy", "window-limited", "one-by-one", "delayed-ack", "path")
_IN_SAMPLE = ("controls without false incast",)
_OF_HOSTS = ("episodes, F1", *_IN_SAMPLE, "look-alikes named")


def run(*, quick: bool) -> int:
    """Return 0 if it holds."""
    halves = committed()
    cases = [case for case in all_cases() if halves[case.name] == HELD_OUT]
    simulated = [case for case in cases if not case.kernel]
    if quick:
        simulated = [next(one for one in simulated if one.family == family) for family in _SAMPLE]
    with TemporaryDirectory() as directory:
        score, count = _judged(simulated, Path(directory))
        for one in criteria(score):
            if not quick or one.what in _IN_SAMPLE:
                print(one)
        if quick:
            return int(any(one.value < one.least for one in criteria(score)[3:4]))
        real, captures, all_criteria = None, 0, criteria(score)
        if lacks := kernel.lacks():
            print(f"captures: without real hosts: {lacks}")
        else:
            real, captures = _judged([case for case in cases if case.kernel], Path(directory))
            of_hosts = [one for one in criteria(real) if one.what in _OF_HOSTS]
            print("of real hosts:", *of_hosts, sep="\n")
            all_criteria += of_hosts
        pictures = [f"captures-{number}.png" for number in range(len(worst(score)))]
        for (_, name, _), picture in zip(worst(score), pictures, strict=True):
            draw(Path(directory) / name, PAGE.with_name(picture))
    PAGE.write_text(page(score, real, (count, captures), pictures), encoding="utf-8")
    return int(any(one.value < one.least for one in all_criteria))


def _judged(cases: list[Case], directory: Path) -> tuple[Score, int]:
    score, count = Score(), 0
    for case in cases:
        for file in (kernel if case.kernel else simulate).make(case, directory):
            judge(file, score)
            count += 1
    return score, count
