"""One round of the barrier read: a lane per server, its stalls, and the idle link."""

from dataclasses import dataclass
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from incast import units
from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results
from incast.results.causes import CAUSES, OTHER_STALLS, UNKNOWN, column

_MILLI = 1e3
_LANES = 64  # maximum number of lanes; with more servers, the slowest are drawn
_TRIPS = 4  # a lane waits if the link is idle for more base round trips than this
_WAITING: dict[str, Any] = {"facecolor": "#C6DCEB", "edgecolor": style.COLOURS[0], "linewidth": 0.4}
_OF_WAITS = ("stall", "tail_probe")  # events during a wait, which do not begin a new wait


@dataclass(frozen=True)
class _Stall:
    """Seconds in which a server waits for its timer, or in which the block waits for the server."""

    lane: int
    start: float
    end: float
    cause: str  # as a column of the rows


def draw(results: Results, moment: Moment) -> Picture:
    """Draw the requested block, or the longest block."""
    job = choice.job(results, moment, "events")
    events = results.traces.of("events", job)
    block = moment.block if moment.block is not None else _longest(events)
    start, end = choice.span(results, job, block)
    whole = ((pl.col("kind") == "block_done") & (pl.col("block") == block)).any()
    finished = events.select(whole).item()
    own = events.filter((pl.col("block") == block) & (pl.col("flow") >= 0))
    lanes = _lanes(own.filter(~pl.col("kind").is_in(_OF_WAITS)), start, end)
    kept = sorted(lanes["lane"][:_LANES].to_list())
    shown = lanes.filter(pl.col("lane").is_in(kept)).sort("lane")
    stalls = [stall for stall in _stalls(own, end) if stall.lane in kept]
    figure, (axes,) = style.sheet(
        facts.title(results),
        facts.of_run(results, job),
        size=(7.6, 2.1 + min(max(0.16 * len(kept), 1.6), 6.4)),
    )
    row = {lane: index for index, lane in enumerate(kept)}
    idle = _idle(events, start, end)
    for begin, stop in idle:
        axes.axvspan((begin - start) * _MILLI, (stop - start) * _MILLI, color=style.IDLE, lw=0)
    for lane, begin, stop in shown.select("lane", "start_s", "end_s").iter_rows():
        axes.barh(
            row[lane], (stop - begin) * _MILLI, 0.62, (begin - start) * _MILLI,
            color=style.COLOURS[0], lw=0,
        )  # fmt: skip
    least = _TRIPS * results.resolved(job.index).base_rtt
    waits = _waits(shown, stalls, idle, least)
    for lane, begin, stop in waits:
        axes.barh(row[lane], (stop - begin) * _MILLI, 0.62, (begin - start) * _MILLI, **_WAITING)
    for stall in stalls:
        _bar(axes, stall, row[stall.lane], start)
    _frame(axes, kept, (end - start) * _MILLI)
    _legend(figure, stalls, waits, idle, end - start)
    note = f"{len(kept)} slowest of {len(lanes)} servers, " if len(kept) < len(lanes) else ""
    lasted = "block of" if finished else "not finished after"
    axes.set_xlabel(
        f"time since the request of block {block} [ms]  ({note}"
        f"{lasted} {units.time(end - start)}, at line rate "
        f"{units.time(results.resolved(job.index).ideal)})"
    )
    return Picture(figure, _data(shown, stalls, waits, idle, start))


def _longest(events: pl.DataFrame) -> int:
    """Return the block that took longest; a block that never ended counts as the longest."""
    done = pl.col("kind") == "block_done"
    blocks = (
        events.filter(pl.col("kind").is_in(["block_start", "block_done"]))
        .group_by("block")
        .agg(
            done.any().alias("ended"),
            (pl.col("time_s").max() - pl.col("time_s").min()).alias("span"),
        )
        .sort("ended", "span", "block", descending=[False, True, False])
    )
    if blocks.is_empty():
        raise ResultsError(
            "swimlane: the workload must read blocks; use goodput, queue or cwnd for long flows"
        )
    return int(blocks["block"][0])


def _lanes(own: pl.DataFrame, start: float, end: float) -> pl.DataFrame:
    """Return number, time of the request, and end of the SRU of every server, slowest first."""
    first = pl.col("time_s").filter(pl.col("kind") == "request").min().fill_null(start)
    last = pl.col("time_s").filter(pl.col("kind") == "flow_done").max().fill_null(end)
    return (
        own.group_by("flow")
        .agg(first.alias("start_s"), last.alias("end_s"))
        .rename({"flow": "lane"})
        .sort("end_s", "lane", descending=[True, False])
    )


def _stalls(own: pl.DataFrame, end: float) -> list[_Stall]:
    """Return the waits that ended in a timeout, and the stalls of the block without a timeout.

    A wait for a timeout begins at the flow's previous event. A stall of the block begins when the
    link becomes idle.
    """
    stalls: list[_Stall] = []
    before: dict[int, float] = {}
    for time, kind, flow, cause, wait in (
        own.sort("time_s").select("time_s", "kind", "flow", "cause", "wait_s").iter_rows()
    ):
        if kind == "timeout":
            stalls.append(_Stall(flow, before.get(flow, time), min(time, end), column(cause)))
        elif kind == "stall" and f"stalls_{cause}" in OTHER_STALLS:
            stalls.append(_Stall(flow, time - wait, min(time, end), f"stalls_{cause}"))
        if kind not in _OF_WAITS:
            before[flow] = time
    return stalls


def _idle(events: pl.DataFrame, start: float, end: float) -> list[tuple[float, float]]:
    """Return the intervals in which the client's link was idle, within the block."""
    intervals, begun = [], None
    changes = events.filter(pl.col("kind").is_in(["link_idle", "link_busy"])).sort("time_s")
    for time, kind in changes.select("time_s", "kind").iter_rows():
        if kind == "link_idle":
            begun = time
        elif begun is not None:
            intervals.append((max(begun, start), min(time, end)))
            begun = None
    if begun is not None:
        intervals.append((max(begun, start), end))
    return [(begin, stop) for begin, stop in intervals if stop > begin]


def _waits(
    shown: pl.DataFrame, stalls: list[_Stall], idle: list[tuple[float, float]], least: float
) -> list[tuple[int, float, float]]:
    """Return the times in which a lane waits while the link is idle for longer than `least`.

    The lane transfers no data in these times, whatever the cause. Times within a known stall are
    left out.
    """
    known = [(stall.lane, stall.start, stall.end) for stall in stalls]
    long = [(begin, stop) for begin, stop in idle if stop - begin > least]
    return [
        (lane, max(begin, first), min(stop, last))
        for lane, first, last in shown.select("lane", "start_s", "end_s").iter_rows()
        for begin, stop in long
        if min(stop, last) - max(begin, first) > least
        and not any(
            of == lane and since <= max(begin, first) and min(stop, last) <= until + least
            for of, since, until in known
        )
    ]


def _bar(axes: Axes, stall: _Stall, row: int, start: float) -> None:
    colour, hatch = style.looks(stall.cause)
    begin, stop = (stall.start - start) * _MILLI, (stall.end - start) * _MILLI
    axes.barh(row, stop - begin, 0.62, begin, color=colour, hatch=hatch, edgecolor="0.15", lw=0.4)
    axes.plot(stop, row, "|", color="black", markersize=7, markeredgewidth=1.3)


def _frame(axes: Axes, lanes: list[int], width: float) -> None:
    step = -(-len(lanes) // 24)
    axes.set_yticks(range(0, len(lanes), step), [str(lane) for lane in lanes[::step]])
    axes.set_ylim(len(lanes) - 0.4, -0.6)
    axes.set_xlim(0, width)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("server")


def _legend(
    figure: Figure,
    stalls: list[_Stall],
    waits: list[tuple[int, float, float]],
    idle: list[tuple[float, float]],
    width: float,
) -> None:
    handles = [Patch(color=style.COLOURS[0], label="request to last byte")]
    if waits:
        handles.append(Patch(**_WAITING, label="waits, link idle"))
    seen = {stall.cause for stall in stalls}
    handles += [style.cause(name, "stalled: ") for name in (*CAUSES, *UNKNOWN) if name in seen]
    for name in (name for name in OTHER_STALLS if name in seen):
        handles.append(style.cause(name, "stalled: "))
        longest = max(stall.end - stall.start for stall in stalls if stall.cause == name)
        handles[-1].set_label(f"{handles[-1].get_label()}, {units.time(longest)}")
    if idle:
        share = sum(stop - begin for begin, stop in idle) / width
        label = f"link idle: {units.percent(share)}"
        handles.append(Patch(color=style.IDLE, label=label))
    style.legend(figure, handles)


def _data(
    lanes: pl.DataFrame,
    stalls: list[_Stall],
    waits: list[tuple[int, float, float]],
    idle: list[tuple[float, float]],
    start: float,
) -> pl.DataFrame:
    """Return a row per drawn bar: kind, lane, start and end since the start of the block."""
    rows = [
        ("request", lane, a, b) for lane, a, b in lanes.select("lane", "start_s", "end_s").rows()
    ]
    rows += [(stall.cause, stall.lane, stall.start, stall.end) for stall in stalls]
    rows += [("waiting", *wait) for wait in waits]
    rows += [("link_idle", None, begin, stop) for begin, stop in idle]
    frame = pl.DataFrame(rows, ["what", "server", "start_s", "end_s"], orient="row")
    return frame.with_columns(pl.col("start_s", "end_s") - start)
