"""The default picture and the default run."""

import polars as pl

from incast.errors import ResultsError
from incast.plots import KINDS, Kind, Moment
from incast.results import Results
from incast.results.collapse import at_points
from incast.results.series import ordered, split
from incast.scenario.plan import Job, Plan

MOST_CURVES = 8  # more curves in one panel are hard to distinguish


def for_plan(plan: Plan, traces: list[str]) -> Kind:
    """Return the default picture of a plan.

    For a sweep, the picture is goodput. If goodput has too many curves, the picture is a heatmap if
    two quantities are swept, and otherwise a ranking. For a single point, the picture shows a
    recorded trace. For a single point without traces, the picture shows one round of a read, or the
    queue of long flows.
    """
    if len(plan.points) > 1:
        swept = pl.DataFrame([point.swept for point in plan.points])
        axis, series = split(swept, plan.swept)
        if len(series) <= MOST_CURVES:
            return KINDS["goodput"]
        others = [key for key in plan.swept if key != axis and swept[key].n_unique() > 1]
        quantities = all(ordered(swept[key]) for key in others)
        return KINDS["heatmap" if len(others) == 1 and quantities else "ranking"]
    recorded = {name.removesuffix(":full") for name in traces}
    fitting = (kind for kind in KINDS.values() if kind.traces and recorded.issuperset(kind.traces))
    reads = plan.points[0].here.reads
    return next(fitting, KINDS["swimlane" if reads else "queue"])


def points(results: Results, moment: Moment) -> pl.DataFrame:
    """Return the summary that a picture of result rows shows: of the chosen points and group.

    Raises
    ------
    ResultsError
        No run at these points has finished.
    """
    chosen = {job.index for job in results.traces.find(moment.where)}
    summary = results.summary(moment.group).filter(pl.col("point").is_in(chosen))
    if summary["ok"].sum() == 0:
        how = f" ({summary['status'][0]})" if summary.height == 1 else ""
        raise ResultsError(f"no run finished{how}: nothing to draw")
    return summary


def collapsed(results: Results, summary: pl.DataFrame, moment: Moment) -> list[bool | None]:
    """Return whether the read has collapsed at each point; None if no run finished there.

    For background traffic, every value is None.
    """
    if moment.group != "all":
        return [None] * summary.height
    found = zip(at_points(summary, results.resolved), summary["ok"], strict=True)
    return [has if ok else None for has, ok in found]


def job(results: Results, moment: Moment, trace: str) -> Job:
    """Return the run that a picture of a trace shows.

    Raises
    ------
    ResultsError
        No recorded run matches, or the traces do not have the requested group.
    """
    if moment.group != "all":
        raise ResultsError(
            f"group: the trace {trace!r} has the workload only, not {moment.group!r}; use "
            "goodput, completion or timeouts"
        )
    jobs = results.traces.find(moment.where, moment.seed)
    goodput = dict(results.summary().select("point", "goodput_bps").iter_rows())
    recorded = [job for job in jobs if results.traces.has(trace, job)]
    if not recorded:
        raise results.traces.missing(trace)
    return min(recorded, key=lambda job: (goodput.get(job.index) or 0.0, job.index, job.seed))


def span(results: Results, job: Job, block: int | None) -> tuple[float, float]:
    """Return the start and the end of a block, or of the whole run, in seconds.

    A block that never ends lasts until the last event.

    Raises
    ------
    ResultsError
        The events with the starts of blocks were not recorded, or there is no such block.
    """
    if block is None:
        return 0.0, float("inf")
    events = results.traces.of("events", job)
    own = events.filter(pl.col("block") == block)
    start = own.filter(pl.col("kind") == "block_start")["time_s"].min()
    end = own.filter(pl.col("kind") == "block_done")["time_s"].max()
    if start is None:
        blocks = events.filter(pl.col("kind") == "block_start")["block"].n_unique()
        there = f"from 0 to {blocks - 1}" if blocks else "none"
        raise ResultsError(
            f"block: there is no block {block} at seed {job.seed}; there are {there}"
        )
    if end is None:
        end = events["time_s"].max()
    return float(start), float(end)  # type: ignore[arg-type]
