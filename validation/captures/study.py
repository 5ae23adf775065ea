"""Make the held-out halves of our and foreign captures, judge the diagnosis, write the page.

The study holds if every criterion is met. The sample (`--quick`) has controls of five families and
a foreign control of each kind. They are from the development half, so the sample reveals nothing
about the held-out half.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from validation.captures import kernel, simulate
from validation.captures.draw import draw
from validation.captures.foreign import judging
from validation.captures.foreign.cases import made_here, on_kernel
from validation.captures.foreign.make import make
from validation.captures.foreign.split import committed as foreign_halves
from validation.captures.page import page, worst
from validation.captures.scenarios import all_cases
from validation.captures.scoring import Score, criteria, judge
from validation.captures.split import DEVELOPMENT, HELD_OUT, committed
from validation.common.places import ROOT

if TYPE_CHECKING:
    from validation.captures.foreign.cases import Foreign
    from validation.captures.scenarios import Case
    from validation.captures.scoring import Criterion

PAGE = ROOT / "docs" / "validation" / "captures.md"
_SAMPLE = ("healthy", "window-limited", "one-by-one", "delayed-ack", "path")
_IN_SAMPLE = ("controls without false incast",)
_OF_HOSTS = ("episodes, F1", *_IN_SAMPLE, "look-alikes named")


def run(*, quick: bool, half: str = HELD_OUT, page_file: Path = PAGE) -> int:
    """Run the study; return 0 if it holds."""
    half = DEVELOPMENT if quick else half
    halves = committed()
    cases = [case for case in all_cases() if halves[case.name] == half]
    simulated = [case for case in cases if not case.kernel]
    foreign = _foreign(half)
    if quick:
        simulated = [next(one for one in simulated if one.family == family) for family in _SAMPLE]
        foreign = _of_each_kind(foreign)
    with TemporaryDirectory() as directory:
        score, count = _judged(simulated, Path(directory))
        other = _judged_foreign(foreign)
        reached = _told(criteria(score), quick=quick)
        reached += _told(judging.criteria(other), quick=quick, of="of foreign captures:")
        if quick:
            return int(any(one.value < one.least for one in reached))
        real, captures = None, 0
        if lacks := kernel.lacks():
            print(f"captures: without real hosts: {lacks}")
        else:
            real, captures = _judged([case for case in cases if case.kernel], Path(directory))
            of_hosts = [one for one in criteria(real) if one.what in _OF_HOSTS]
            print("of real hosts:", *of_hosts, sep="\n")
            reached += of_hosts
        pictures = [f"captures-{number}.png" for number in range(len(worst(score)))]
        for (_, name, _), picture in zip(worst(score), pictures, strict=True):
            draw(Path(directory) / name, page_file.with_name(picture))
    text = page(score, real, other, (count, captures), pictures)
    page_file.write_text(text, encoding="utf-8")
    return int(any(one.value < one.least for one in reached))


def _told(all_criteria: list[Criterion], *, quick: bool, of: str = "") -> list[Criterion]:
    """Print and return the criteria; with `quick`, only the criteria that a sample can judge."""
    told = [one for one in all_criteria if not quick or one.what in _IN_SAMPLE]
    print(*filter(None, [of]), *told, sep="\n")
    return told


def _judged(cases: list[Case], directory: Path) -> tuple[Score, int]:
    score, count = Score(), 0
    for case in cases:
        for file in (kernel if case.kernel else simulate).make(case, directory):
            judge(file, score)
            count += 1
    return score, count


def _foreign(half: str) -> list[Foreign]:
    """Return the foreign cases of a half; those of real hosts only if this machine can run them."""
    halves = foreign_halves()
    cases = made_here() + ([] if kernel.lacks() else on_kernel())
    return [case for case in cases if halves[case.name] == half]


def _of_each_kind(cases: list[Foreign]) -> list[Foreign]:
    """Return one control of each kind, except for the kinds that need real hosts."""
    controls = [case for case in cases if not case.incast and case.family != "kernel"]
    return list({(case.family, case.kind): case for case in controls}.values())


def _judged_foreign(cases: list[Foreign]) -> judging.Score:
    score = judging.Score()
    for case in cases:
        with TemporaryDirectory() as directory:
            for file in make(case, Path(directory)):
                judging.judge(file, score)
    return score
