"""What stands above a picture."""

from incast import units
from incast.results import Results
from incast.scenario.facts import of_plan, words
from incast.scenario.plan import Job


def title(results: Results) -> str:
    """Return the scenario's title."""
    return results.plan.title or "Untitled scenario"


def of_sweep(results: Results) -> str:
    """Name what does not change along the sweep, and the number of seeds."""
    seeds = units.plural(len(results.plan.seeds), "seed")
    return f"{of_plan(results.plan)}, {seeds}"


def of_run(results: Results, job: Job) -> str:
    """Name one run."""
    return f"{words([results.resolved(job.index)])}, seed {job.seed}"
