"""Titles of pictures."""

from collections.abc import Iterable

from incast import units
from incast.plots import Moment
from incast.results import Results
from incast.results.series import label_of
from incast.scenario.facts import words
from incast.scenario.plan import Job


def title(results: Results) -> str:
    """Return the scenario's title."""
    return results.plan.title or "Untitled scenario"


def of_sweep(results: Results, points: Iterable[int], moment: Moment) -> str:
    """Name the parameters that all points share, and the number of seeds."""
    facts = [words(map(results.resolved, points))]
    if moment.where:
        facts.append(label_of(dict(moment.where)))
    facts.append(units.plural(len(results.plan.seeds), "seed"))
    whose = "" if moment.group == "all" else f"Group {moment.group!r}; "
    return whose + ", ".join(filter(None, facts))


def of_run(results: Results, job: Job) -> str:
    """Name the parameters and the seed of one run."""
    return f"{words([results.resolved(job.index)])}, seed {job.seed}"
