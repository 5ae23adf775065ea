"""The predictions of advice, made before measuring: a fix for each case, with its commands."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import incast
from incast.advise.case import Case, case_of
from incast.advise.fixes import catalogue
from incast.advise.goal import goal_of
from incast.advise.search import ROUNDS, Search
from incast.advise.trials import BASE, GOODPUT, Clock, TimeUp, Trials
from validation.advised.draw import cases
from validation.advised.kinds import APPLICATION, kind, possible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from incast.advise.goal import Goal
    from incast.advise.search import Advised, Gain
    from validation.advised.draw import Lot

SECONDS, BLOCKS = 4.0, (5, 40)
"""The approximate seconds of a run of the kernel without the fix, and the least and the largest
number of blocks."""
LEAST_GAIN = 1.35
"""With a smaller predicted gain, a fix without effect would be within 25 % of the prediction."""
STEADY = 0.2
"""Maximum standard deviation of ln(judged quantity) over the seeds."""
_SAMPLE = 6  # blocks of a first short simulation
_NO_LIMIT = Clock(math.inf)


@dataclass(frozen=True)
class Prediction:
    """A case, a fix that is advised for it, and the gain of the fix.

    Parameters
    ----------
    document
        The scenario.
    kind, name, who
        Kind and name of the fix, and who must apply it.
    text, rollback
        Printed commands of the fix and of its rollback.
    ratio, low, high
        Predicted gain as a ratio, in goodput or in the 99th percentile of a run's block times, and
        the ends of its 95 % interval.
    before_mbps, after_mbps
        Mean goodput over the fresh seeds.
    goal
        Goal for which the fix was chosen: goodput or p99.
    before_ms, after_ms
        Mean of the 99th percentile over the fresh seeds; only if the goal is p99.
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
    goal: str = "goodput"
    before_ms: float = math.nan
    after_ms: float = math.nan

    @property
    def before(self) -> float:
        """The judged quantity without the fix: goodput in Mbit/s, or the percentile in ms."""
        return self.before_ms if self.goal == "p99" else self.before_mbps

    @property
    def after(self) -> float:
        """The judged quantity with the fix."""
        return self.after_ms if self.goal == "p99" else self.after_mbps


def draw(lot: Lot) -> Iterator[Prediction]:
    """Yield a prediction for each case with an advised fix that the kernel supports.

    If several kinds of fixes are advised in a case, the kind is taken that occurred least so far.
    """
    seen: Counter[str] = Counter()
    count = 0
    for document in cases(lot):
        if count == lot.count:
            return
        case = case_of(_sized(document))
        found = _advised(case, goal_of(lot.goal))
        if not found:
            continue
        one = min(found, key=lambda it: seen[it.kind])
        seen[one.kind] += 1
        count += 1
        yield one


def _sized(document: dict[str, Any]) -> incast.Scenario:
    """Set the number of blocks of a scenario so that a run takes about `SECONDS`."""
    sample = document | {"workload": document["workload"] | {"blocks": _SAMPLE}}
    row = incast.run(sample | {"run": {"seeds": 3}}).summary().to_dicts()[0]
    least, most = BLOCKS
    blocks = min(max(round(SECONDS / float(row["completion_s"])), least), most)
    return incast.load(document | {"workload": document["workload"] | {"blocks": blocks}})


def _advised(case: Case, goal: Goal) -> list[Prediction]:
    """Return the advised fixes of all kinds whose gain is large and steady enough."""
    trials = Trials(case)
    found = []
    for one, fixes in possible(case, catalogue(case)).items():
        if one in APPLICATION and not case.here.fresh:
            continue  # the printed code opens new connections for each block
        search = Search(case, trials, fixes, goal)
        try:
            for number in range(len(ROUNDS)):
                search.round(number, _NO_LIMIT)
                if not search.field:
                    break
            search.confirm(_NO_LIMIT)
        except TimeUp:  # pragma: no cover (there is no limit)
            pass
        for it in search.found(len(ROUNDS), confirmed=search.has_fresh()).advised:
            gain = _gain(goal, trials, it, search.fresh)
            if gain is not None:
                found.append(_prediction(case, it, goal, gain))
    return sorted(found, key=lambda it: -it.ratio)


def _gain(goal: Goal, trials: Trials, one: Advised, seeds: range) -> Gain | None:
    """Return the gain of the fix, if it is large enough and steady enough over the runs."""
    (column,) = goal.columns
    values = []
    for name in (BASE, one.fix.name):
        rows = trials.results(name, seeds).frame()
        values.append([float(value) for value in rows[column]])
        if statistics.pstdev(map(math.log, values[-1])) > STEADY:
            return None
    if column == GOODPUT:
        gain, ratio = one.goodput, one.goodput.ratio
    else:
        told = one.late
        assert told is not None
        before, after = map(statistics.fmean, values)
        gain, ratio = replace(told, before=before, after=after), before / after
    return gain if ratio >= LEAST_GAIN else None


def _prediction(case: Case, one: Advised, goal: Goal, gain: Gain) -> Prediction:
    fix, late = one.fix, gain is not one.goodput
    ends = (1 / gain.high, 1 / gain.low) if late else (gain.low, gain.high)
    ratio = 1 / gain.ratio if late else gain.ratio
    times = (round(it * 1e3, 3) for it in (gain.before, gain.after)) if late else ()
    return Prediction(
        case.scenario.document,
        kind(fix.name) or "",
        fix.name,
        str(fix.who),
        fix.text,
        fix.rollback,
        *(round(value, 4) for value in (ratio, *ends)),
        *(round(value / 1e6, 3) for value in (one.goodput.before, one.goodput.after)),
        goal.name,
        *times,
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
