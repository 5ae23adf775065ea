"""Congestion windows over time, one panel per flow: how the windows run into the buffer."""

import polars as pl

from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results
from incast.scenario.plan import Job

_FLOWS = 4  # panels
_MILLI = 1e3


def draw(results: Results, moment: Moment) -> Picture:
    """Draw cwnd and ssthresh of the flows that last longest, with their timeouts if recorded."""
    job = choice.job(results, moment, "cwnd")
    start, end = choice.span(results, job, moment.block)
    mss = results.resolved(job.index).mss
    trace = results.traces.of("cwnd", job).filter(pl.col("time_s").is_between(start, end))
    ends = trace.group_by("flow").agg(pl.col("time_s").max()).sort("time_s", "flow")
    flows = sorted(ends["flow"].to_list()[-_FLOWS:])
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
    for axes, flow in zip(panels, flows, strict=True):
        one = trace.filter(pl.col("flow") == flow)
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


def _expiries(results: Results, job: Job, start: float, end: float) -> list[tuple[float, int]]:
    """Return time and flow of every timeout, where events were recorded."""
    if not results.traces.has("events", job):
        return []
    timeouts = results.traces.of("events", job).filter(
        (pl.col("kind") == "timeout") & pl.col("time_s").is_between(start, end)
    )
    return timeouts.select("time_s", "flow").rows()
