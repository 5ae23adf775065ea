"""Rounds of seeds: points with a wide interval get more seeds (`run.precision`)."""

from collections.abc import Callable
from dataclasses import replace

from incast.results.precision import looks
from incast.results.store import Store
from incast.scenario.plan import Job, Plan


def refine(
    plan: Plan,
    store: Store,
    run: Callable[[list[Job]], None],
    widen: Callable[[list[int]], None],
) -> Plan:
    """Run the points of a plan with as many seeds as they need.

    Parameters
    ----------
    plan
        A plan with a precision, and the seeds that every point has.
    store
        The store into which `run` puts runs. Runs that are already in the store count, too.
    run
        A function that runs the missing jobs.
    widen
        A function that records the present list of seeds.

    Returns
    -------
    Plan
        The plan with the seeds of the point that has the most seeds.
    """
    precision = plan.precision
    if precision is None:
        run(list(plan.runs()))
        return plan
    first = plan.seeds[: precision.first]
    while True:
        state = looks(plan, store)
        wanted = {key: look.seeds for key, look in state.items() if look.missing}
        most = max(look.seeds for look in state.values())
        plan = replace(plan, seeds=precision.seeds(first, most))
        widen(plan.seeds)
        if not wanted:
            return plan
        places = {seed: place for place, seed in enumerate(plan.seeds)}
        run([job for job in plan.runs() if places[job.seed] < wanted.get(job.point.key, 0)])
