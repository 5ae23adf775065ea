"""Congestion windows over time, one panel per flow."""

import polars as pl

from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results
from incast.scenario.plan import Job

_FLOWS = 4  # maximum number of panels, one per flow
_MILLI = 1e3


def draw(results: Results, moment: Moment) -> Picture:
    """Draw cwnd and ssthresh of the slowest flows, with their timeouts if recorded."""
    job = choice.job(results, moment, "cwnd")
    start, end = choice.span(results, job, moment.block)
    mss = results.resolved(job.index).mss
    trace = _within(results, job, start, end)
    if trace.is_empty():
        raise ResultsError("cwnd: no window of the workload changes in this run")
    flows = sorted(_slowest(results, job, trace, moment.block)[:_FLOWS])
    trace = trace.filter(pl.col("flow").is_in(flows)).sort("flow", "time_s")
    expiries = _expiries(results, job, start, end)
    figure, panels = style.sheet(
        facts.title(results),
        facts.of_run(results, job),
        panels=len(flows),
        size=(7.2, 1.4 + 1.25 * len(flows)),
        sharex=True,
        sharey=True,
    )
    top = max(trace["cwnd_max"]) / mss
    last = min(end, (trace["time_s"] + trace["bin_s"]).max())  # type: ignore[type-var]
    for axes, flow in zip(panels, flows, strict=True):
        one = trace.filter(pl.col("flow") == flow)
        one = pl.concat([one, one.tail(1).with_columns(time_s=pl.lit(last))])  # hold the last value
        time = one["time_s"] * _MILLI
        low, high = one["cwnd_min"] / mss, one["cwnd_max"] / mss
        axes.fill_between(time, low, high, step="post", color=style.COLOURS[0], alpha=0.3, lw=0)
        axes.step(
            time,
            one["cwnd_last"] / mss,
            where="post",
            color=style.COLOURS[0],
            label="congestion window",
        )
        axes.step(
            time,
            one["ssthresh_last"] / mss,
            where="post",
            color=style.COLOURS[1],
            linestyle="--",
            linewidth=1.3,
            label="ssthresh",
        )
        own = [time * _MILLI for time, of in expiries if of == flow]
        style.crosses(axes, own, 0.0, "timeout")
        axes.set_ylim(0, top * 1.12)
        axes.margins(x=0)
        axes.set_ylabel(f"server {flow}\n[segments]")
    named = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    style.legend(figure, list(named.values()))
    panels[-1].set_xlabel("time [ms]")
    return Picture(figure, trace)


def _within(results: Results, job: Job, start: float, end: float) -> pl.DataFrame:
    """Return the windows from start to end; the last window of a bin lasts until the next bin."""
    trace = results.traces.of("cwnd", job).filter(pl.col("time_s") < end)
    inside = trace.filter(pl.col("time_s") + pl.col("bin_s") > start)
    if start == 0 or results.resolved(job.index).fresh:
        return inside.filter(pl.col("time_s") >= start)
    # On a connection that stays open, a block begins with the window from before the block.
    earlier = trace.filter(pl.col("time_s") < start).sort("time_s").group_by("flow").last()
    last = {f"cwnd_{end}": pl.col("cwnd_last") for end in ("min", "max")}
    held = earlier.with_columns(time_s=pl.lit(start), **last).select(trace.columns)
    return pl.concat([held, inside.filter(pl.col("time_s") >= start)])


def _slowest(results: Results, job: Job, trace: pl.DataFrame, block: int | None) -> list[int]:
    """Return the flows, slowest block first; without events, the latest change of cwnd first.

    Events are preferred, because the last change of a window may be later than the end of a flow:
    the next block may begin in the same bin.
    """
    flows = trace["flow"].unique().sort().to_list()
    if results.traces.has("events", job):
        done = pl.col("kind") == "flow_done"
        events = results.traces.of("events", job)
        own = events.filter(pl.col("kind").is_in(["request", "flow_done"]), pl.col("flow") >= 0)
        if block is not None:
            own = own.filter(pl.col("block") == block)
        ends = pl.when(done.any()).then(pl.col("time_s").filter(done).max()).otherwise(float("inf"))
        began = pl.col("time_s").filter(~done).min()
        took = own.group_by("flow", "block").agg((ends - began).alias("took"))
        longest = dict(took.group_by("flow").agg(pl.col("took").max()).iter_rows())
        if longest:
            return sorted(flows, key=lambda flow: (-(longest.get(flow) or 0.0), flow))
    last = dict(trace.group_by("flow").agg(pl.col("time_s").max()).iter_rows())
    return sorted(flows, key=lambda flow: (-last[flow], flow))


def _expiries(results: Results, job: Job, start: float, end: float) -> list[tuple[float, int]]:
    """Return the time and the flow of every timeout; an empty list if there are no events."""
    if not results.traces.has("events", job):
        return []
    timeouts = results.traces.of("events", job).filter(
        (pl.col("kind") == "timeout") & pl.col("time_s").is_between(start, end)
    )
    return timeouts.select("time_s", "flow").rows()
