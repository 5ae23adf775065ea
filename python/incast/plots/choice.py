"""Which picture and which run to show when the user leaves it open."""

import polars as pl

from incast.errors import ResultsError
from incast.plots import KINDS, Kind, Moment
from incast.results import Results
from incast.results.series import split
from incast.scenario.plan import Job, Plan
from incast.scenario.resolved import Resolved

MOST_CURVES = 8  # more in one panel are hard to tell apart


def for_plan(plan: Plan, traces: list[str]) -> Kind:
    """Return the picture that answers a plan: goodput for a sweep, else what was traced.

    Without a trace that is a round of a read, and of long flows the queue.
    Curves that are too many to be told apart are ranked.
    """
    if len(plan.points) > 1:
        _, series = split(pl.DataFrame([point.swept for point in plan.points]), plan.swept)
        return KINDS["goodput" if len(series) <= MOST_CURVES else "ranking"]
    recorded = {name.removesuffix(":full") for name in traces}
    fitting = (kind for kind in KINDS.values() if kind.traces and recorded.issuperset(kind.traces))
    reads = Resolved(plan.points[0].resolved).reads
    return next(fitting, KINDS["swimlane" if reads else "queue"])


def job(results: Results, moment: Moment, trace: str) -> Job:
    """Return the run that a picture of a trace shows.

    Raises
    ------
    ResultsError
        No recorded run fits.
    """
    jobs = results.traces.find(moment.where, moment.seed)
    goodput = dict(results.summary().select("point", "goodput_bps").iter_rows())
    recorded = [job for job in jobs if results.traces.has(trace, job)]
    if not recorded:
        raise results.traces.missing(trace)
    return min(recorded, key=lambda job: (goodput.get(job.index) or 0.0, job.index, job.seed))


def span(results: Results, job: Job, block: int | None) -> tuple[float, float]:
    """Return begin and end of a block in seconds, or of everything.

    Raises
    ------
    ResultsError
        The events that say when blocks begin were not recorded, or there is no such block.
    """
    if block is None:
        return 0.0, float("inf")
    events = results.traces.of("events", job).filter(pl.col("block") == block)
    start = events.filter(pl.col("kind") == "block_start")["time_s"].min()
    end = events.filter(pl.col("kind") == "block_done")["time_s"].max()
    if start is None or end is None:
        raise ResultsError(f"there is no whole block {block} at seed {job.seed}")
    return float(start), float(end)  # type: ignore[arg-type]
