"""The cost of a fix while there is no incast, measured with the same read from few servers."""

from dataclasses import replace

from incast.advise.case import SERVERS, Case
from incast.advise.search import Advised
from incast.advise.trials import BASE, Clock, TimeUp, Trials

SEEDS = range(1, 4)
FEW = 2
"""Number of servers of a quiet read: a read without incast."""
_MEDIAN = "completion_p50_s"


def quiet(case: Case, advised: list[Advised], beside: Trials, clock: Clock) -> dict[str, float]:
    """Return the factor by which each fix changes the median block time of the quiet read.

    The keys are the names of the fixes. The runs are kept in the store of `beside`.
    """
    if not case.reads or case.here.servers <= FEW or "active" in case.here.workload:
        return {}
    few = replace(case, scenario=case.changed({SERVERS: FEW}))
    trials = Trials(few, beside.jobs, beside.store)
    fixes = [one.fix for one in advised]
    names = [fix.name for fix in fixes if trials.add(fix.name, fix.changes, fix.pieces)]
    try:
        trials.run([BASE, *names], SEEDS, clock)
    except TimeUp:
        return {}
    before = trials.mean(BASE, SEEDS, _MEDIAN)
    after = {name: trials.mean(name, SEEDS, _MEDIAN) for name in names}
    return {name: time / before for name, time in after.items() if time and before}
