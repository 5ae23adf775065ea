"""The queue of the switch port towards the client over time, and when its link idles."""

import polars as pl

from incast import units
from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results

_MILLI, _KIB = 1e3, 1024


def draw(results: Results, moment: Moment) -> Picture:
    """Draw the extremes of every bin, the buffer's limit, the drops and the link's use."""
    job = choice.job(results, moment, "queue")
    start, end = choice.span(results, job, moment.block)
    here = results.resolved(job.index)
    trace = results.traces.of("queue", job).filter(pl.col("time_s").is_between(start, end))
    port = trace.group_by("port").agg(pl.col("packets_max").max()).sort("packets_max")["port"][-1]
    trace = trace.filter(pl.col("port") == port)
    figure, (axes, use) = style.sheet(
        facts.title(results),
        facts.of_run(results, job),
        panels=2,
        size=(7.2, 4.4),
        sharex=True,
        height_ratios=[3.4, 1],
    )
    if here.counts_packets:
        column, scale, unit, limit = "packets", 1, "packets", float(here.buffer_packets)
    else:
        column, scale, unit, limit = "bytes", _KIB, "KiB", here.buffer_bytes / _KIB
    drawn = _filled(trace, column)
    time = drawn["time_s"] * _MILLI
    high = drawn["max"] / scale
    axes.margins(x=0)
    axes.fill_between(
        time, drawn["min"] / scale, high, step="post", color=style.COLOURS[0], alpha=0.35, lw=0
    )
    axes.step(time, high, where="post", color=style.COLOURS[0], linewidth=0.9)
    style.guide(axes, limit, f"buffer {here.buffer}")
    drops = trace.filter(pl.col("drops") > 0)
    count = units.plural(int(drops["drops"].sum()), "packet")
    style.crosses(axes, (drops["time_s"] * _MILLI).to_list(), limit, f"drops: {count}")
    axes.set_ylim(0, limit * 1.18)
    axes.set_ylabel(f"queue {port}\n[{unit}]")
    style.legend(figure, axes.get_legend_handles_labels()[0])
    use.fill_between(time, drawn["busy"] * 100, step="post", color="0.35", lw=0)
    use.set_ylim(0, 100)
    use.set_ylabel("link busy\n[%]")
    use.set_xlabel("time [ms]")
    return Picture(figure, trace)


def _filled(trace: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return extremes and use over time without gaps: where no bin is, nothing happened."""
    bins = trace.select(
        "time_s",
        (pl.col("time_s") + pl.col("bin_s")).alias("end_s"),
        pl.col(f"{column}_min").alias("min"),
        pl.col(f"{column}_max").alias("max"),
        pl.col(f"{column}_last").alias("last"),
        "busy",
    )
    quiet = bins.filter(
        (pl.col("time_s").shift(-1) - pl.col("end_s") > 1e-9).fill_null(value=True)  # noqa: PLR2004
    ).select(
        pl.col("end_s").alias("time_s"),
        pl.col("last").alias("min"),
        pl.col("last").alias("max"),
        pl.lit(0.0).alias("busy"),
    )
    return pl.concat([bins.select(quiet.columns), quiet]).sort("time_s", maintain_order=True)
