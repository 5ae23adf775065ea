"""What advice predicts before the kernel is asked: a fix for each case, with its words."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import incast
from incast.advise.case import Case, case_of
from incast.advise.fixes import catalogue
from incast.advise.search import ROUNDS, Search
from incast.advise.trials import BASE, GOODPUT, Clock, TimeUp, Trials
from validation.advised.draw import cases
from validation.advised.kinds import APPLICATION, kind, possible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from incast.advise.search import Advised
    from validation.advised.draw import Lot

SECONDS, BLOCKS = 4.0, (5, 40)
"""How long a run of the kernel lasts without the fix, about, and its blocks."""
LEAST_GAIN = 1.35
"""A smaller gain would be within 25 % of the prediction even if the fix did nothing."""
STEADY = 0.2
"""The standard deviation of the seeds' ln goodput, with and without the fix, at most."""
_SAMPLE = 6  # seeds, and blocks, of a simulation that only looks
_NO_LIMIT = Clock(math.inf)


@dataclass(frozen=True)
class Prediction:
    """A case, one of the fixes that are advised for it, and what it gains.

    Parameters
    ----------
    document
        The scenario.
    kind, name, who
        The fix.
    text, rollback
        Its words, as they are printed.
    ratio, low, high
        Times the goodput, and the 95 % interval.
    before_mbps, after_mbps
        Mean goodput over the fresh seeds.
    """

    document: dict[str, Any]
    kind: str
    name: str
    who: str
    text: str
    rollback: str
    ratio: float
    low: float
    high: float
    before_mbps: float
    after_mbps: float


def draw(lot: Lot) -> Iterator[Prediction]:
    """Yield a prediction for each case in which a fix is advised that the kernel can do.

    Of the kinds that are advised in a case, the one counts that has come least often so far.
    """
    seen: Counter[str] = Counter()
    count = 0
    for document in cases(lot):
        if count == lot.count:
            return
        case = case_of(_sized(document))
        found = _advised(case)
        if not found:
            continue
        best = min(found, key=lambda one: seen[kind(one.fix.name) or ""])
        one = _prediction(case, best)
        seen[one.kind] += 1
        count += 1
        yield one


def _sized(document: dict[str, Any]) -> incast.Scenario:
    """Give a scenario as many blocks as take about `SECONDS`."""
    sample = document | {"workload": document["workload"] | {"blocks": _SAMPLE}}
    row = incast.run(sample | {"run": {"seeds": 3}}).summary().to_dicts()[0]
    least, most = BLOCKS
    blocks = min(max(round(SECONDS / float(row["completion_s"])), least), most)
    return incast.load(document | {"workload": document["workload"] | {"blocks": blocks}})


def _advised(case: Case) -> list[Advised]:
    """Return the fixes that are advised, kind by kind, and that are large and steady enough."""
    trials = Trials(case)
    found = []
    for one, fixes in possible(case, catalogue(case)).items():
        if one in APPLICATION and not case.here.fresh:
            continue  # printed code opens its connections anew for each read
        search = Search(case, trials, fixes)
        try:
            for number in range(len(ROUNDS)):
                search.round(number, _NO_LIMIT)
                if not search.field:
                    break
            search.confirm(_NO_LIMIT)
        except TimeUp:  # pragma: no cover (there is no limit)
            pass
        found += [
            it
            for it in search.found(len(ROUNDS), confirmed=search.has_fresh()).advised
            if it.goodput.ratio >= LEAST_GAIN and _is_steady(trials, it, search.fresh)
        ]
    return sorted(found, key=lambda it: -it.goodput.after)


def _is_steady(trials: Trials, one: Advised, seeds: range) -> bool:
    for name in (BASE, one.fix.name):
        rows = trials.results(name, seeds).frame()
        logs = [math.log(value) for value in rows[GOODPUT]]
        if statistics.pstdev(logs) > STEADY:
            return False
    return True


def _prediction(case: Case, one: Advised) -> Prediction:
    return Prediction(
        case.scenario.document,
        kind(one.fix.name) or "",
        one.fix.name,
        str(one.fix.who),
        one.fix.text,
        one.fix.rollback,
        *(round(value, 4) for value in (one.goodput.ratio, one.goodput.low, one.goodput.high)),
        *(round(value / 1e6, 3) for value in (one.goodput.before, one.goodput.after)),
    )


def add(path: Path, one: Prediction) -> None:
    """Add a line to the predictions."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(one), ensure_ascii=False) + "\n")


def read(path: Path) -> list[Prediction]:
    """Read the predictions."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Prediction(**json.loads(line)) for line in lines]
