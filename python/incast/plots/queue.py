"""The queue of the switch port towards the client over time, and the use of its link."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from incast import units
from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results
from incast.scenario.resolved import Resolved

_MILLI, _KIB = 1e3, 1024
_SLOTS = 400  # maximum number of steps that can be distinguished in a picture


def draw(results: Results, moment: Moment) -> Picture:
    """Draw the extremes of every bin, the limits, the drops and the link's use."""
    job = choice.job(results, moment, "queue")
    start, end = choice.span(results, job, moment.block)
    here = results.resolved(job.index)
    every = results.traces.of("queue", job).filter(pl.col("time_s").is_between(start, end))
    if every.is_empty():
        raise ResultsError("queue: no packet passed a port towards a client in this run")
    longest = every.group_by("port").agg(pl.col("packets_max").max()).sort("packets_max", "port")
    port = longest["port"][-1]
    trace = every.filter(pl.col("port") == port)
    figure, (axes, use) = style.sheet(
        facts.title(results),
        facts.of_run(results, job),
        panels=2,
        size=(7.2, 4.4),
        sharex=True,
        height_ratios=[3.4, 1],
    )
    column, scale, unit = (
        ("packets", 1, "packets") if here.counts_packets else ("bytes", _KIB, "KiB")
    )
    limit = (here.buffer_packets if here.counts_packets else here.buffer_bytes) / scale
    drawn, slot = _thinned(_filled(trace, column))
    time = drawn["time_s"] * _MILLI
    high = drawn["max"] / scale
    axes.margins(x=0)
    axes.fill_between(
        time, drawn["min"] / scale, high, step="post", color=style.COLOURS[0], alpha=0.35, lw=0
    )
    axes.step(time, high, where="post", color=style.COLOURS[0], linewidth=0.9)
    if here.dynamic is None:
        style.guide(axes, limit, f"buffer {here.buffer}")
    else:
        limit = _moving(axes, every, column, scale, here, here.dynamic)
    _thresholds(axes, here, scale)
    drops = trace.filter(pl.col("drops") > 0)
    count = units.plural(int(drops["drops"].sum()), "packet")
    top = max([limit, *high])
    at = drops["time_s"]
    if slot:  # one cross per slot, not a bar of crosses
        at = (at / slot).floor().unique(maintain_order=True) * slot
    style.crosses(axes, (at * _MILLI).to_list(), top, f"drops: {count}")
    axes.set_ylim(0, top * 1.18)
    axes.set_ylabel(f"queue {port}\n[{unit}]")
    style.legend(figure, axes.get_legend_handles_labels()[0])
    use.fill_between(time, drawn["busy"] * 100, step="post", color="0.35", lw=0)
    use.margins(x=0)
    use.set_ylim(0, 100)
    use.set_ylabel("link busy\n[%]")
    note = f"  (each step: extremes and mean over {units.time(slot)})" if slot else ""
    use.set_xlabel(f"time [ms]{note}")
    return Picture(figure, trace)


def _moving(
    axes: Axes,
    every: pl.DataFrame,
    column: str,
    scale: int,
    here: Resolved,
    dynamic: tuple[int, float],
) -> float:
    """Draw the queue's limit, which depends on the free space; return the longest possible queue.

    Packets towards servers, mostly ACKs, are in no trace, so they are left out.
    """
    total, alpha = dynamic
    last = f"{column}_last"
    ports = every.select((pl.col("time_s") + pl.col("bin_s")).alias("time_s"), "port", last)
    held = ports.pivot("port", index="time_s", values=last).sort("time_s")
    held = held.fill_null(strategy="forward").fill_null(0)
    used = held.select(pl.sum_horizontal(pl.exclude("time_s"))).to_series()
    room = (alpha * (total - used)).clip(lower_bound=0) / scale
    time = [every["time_s"].min(), *held["time_s"]]
    limit = [alpha * total / scale, *room]
    axes.step(
        [at * _MILLI for at in time], limit, where="post",
        color=style.GUIDE, linewidth=1.1, linestyle=(0, (4, 2)),
        label=f"limit: {alpha:g} × the free part of {_length(total, here)}",
    )  # fmt: skip
    return min(alpha, 1.0) * total / scale


def _length(length: float, here: Resolved) -> str:
    return f"{length:g} packets" if here.counts_packets else units.size(round(length))


def _thresholds(axes: Axes, here: Resolved, scale: int) -> None:
    """Draw the thresholds of the discipline."""
    queue: dict[str, Any] = here.tree["network"]["queue"]
    for index, (key, length) in enumerate(here.thresholds.items()):
        level = queue[key]
        words = level if isinstance(level, str) else units.size(level)
        # The name is in the legend, because a name on the line would often hide the queue.
        axes.axhline(
            length / scale, color=style.COLOURS[4], lw=1.1, zorder=1.5,
            linestyle=style.DASHES[1 + index % (len(style.DASHES) - 1)],
            label=f"{queue['name']}: {key} {words}",
        )  # fmt: skip


def _filled(trace: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return extremes and link use over time; fill missing bins, in which nothing changed."""
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


def _thinned(drawn: pl.DataFrame) -> tuple[pl.DataFrame, float]:
    """Combine the steps into as many slots as can be seen; return the slots and their length.

    If all steps can be seen, return the steps themselves and 0. A slot has the extremes of its
    steps, and the mean link use over its time.
    """
    if drawn.height <= 4 * _SLOTS:
        return drawn, 0.0
    begin, end = drawn["time_s"][0], drawn["time_s"][-1]
    slot = (end - begin) / _SLOTS
    until = pl.col("time_s").shift(-1).fill_null(end)
    # A step that lasts longer than its slot is also in the next slots.
    starts = pl.DataFrame({"time_s": [begin + slot * n for n in range(_SLOTS)]})
    seen = starts.join_asof(drawn, on="time_s")
    cut = pl.concat([drawn, seen.select(drawn.columns)]).sort("time_s", maintain_order=True)
    return (
        cut.with_columns(
            (until - pl.col("time_s")).alias("lasts"),
            ((pl.col("time_s") - begin) / slot + 1e-9).floor().clip(0, _SLOTS - 1).alias("slot"),
        )
        .group_by("slot", maintain_order=True)
        .agg(
            pl.col("min").min(),
            pl.col("max").max(),
            ((pl.col("busy") * pl.col("lasts")).sum() / pl.col("lasts").sum()).alias("busy"),
        )
        .select(
            (begin + pl.col("slot") * slot).alias("time_s"),
            "min",
            "max",
            pl.col("busy").fill_nan(0),
        ),
        slot,
    )
