"""Queues and swimlanes in pictures: the exact positions of bars, lines and names."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from drawn import axes, boxes, named, resolved

import incast
from conftest import document
from incast.plots import queue, style, swimlane
from incast.plots.swimlane import _Stall
from incast.results.causes import CAUSES, OTHER_STALLS

FULL = "timeouts_full_window"

# Queue.


def test_a_limit_is_alpha_times_what_is_free() -> None:
    """Two ports use 1024 and 3072 of 4096 bytes. The limit with alpha 2 is at most the total."""
    every = pl.DataFrame(
        {
            "time_s": [0.0, 0.5, 1.0], "bin_s": [0.5, 0.5, 0.5], "port": ["a", "b", "a"],
            "bytes_last": [1024, 1024, 3072],
        }
    )  # fmt: skip
    for alpha, top in ((2.0, 4.0), (0.5, 2.0)):
        one = axes()
        here: Any = SimpleNamespace(counts_packets=False)
        assert queue._moving(one, every, "bytes", 1024, here, (4096, alpha)) == top
        (line,) = one.get_lines()
        assert list(line.get_xdata()) == [0, 500, 1000, 1500]
        assert list(line.get_ydata()) == [4 * alpha, 3 * alpha, 2 * alpha, 0]
        assert line.get_drawstyle() == "steps-post"
        assert (line.get_linewidth(), line.get_color()) == (1.1, "0.45")
        assert line.get_label() == f"limit: {alpha:g} × the free part of 4 KiB"


@pytest.mark.parametrize(("packets", "text"), [(True, "2000 packets"), (False, "2 KB")])
def test_a_length_is_in_packets_or_bytes(packets: bool, text: str) -> None:
    here: Any = SimpleNamespace(counts_packets=packets)
    assert queue._length(2000.0, here) == text


def test_thresholds_differ_in_their_dashes() -> None:
    one = axes()
    here = resolved(network={"queue": {"name": "red", "min_th": "5pkt", "max_th": "15pkt"}})
    queue._thresholds(one, here, 1024)
    first, second = one.get_lines()
    heights = [float(line.get_ydata()[0]) for line in (first, second)]  # type: ignore[index]
    assert heights == pytest.approx([5 * 1500 / 1024, 15 * 1500 / 1024])
    assert (first.get_linestyle(), second.get_linestyle()) == ("--", "-.")
    assert {line.get_linewidth() for line in one.get_lines()} == {1.1}
    assert {line.get_zorder() for line in one.get_lines()} == {1.5}


def test_gaps_of_a_trace_hold_the_last_length() -> None:
    trace = pl.DataFrame(
        {
            "time_s": [0.0, 1.0, 4.0], "bin_s": [1.0, 1.0, 1.0], "bytes_min": [1, 2, 3],
            "bytes_max": [4, 5, 6], "bytes_last": [2, 3, 4], "busy": [1.0, 0.5, 0.25],
        }
    )  # fmt: skip
    assert queue._filled(trace, "bytes").rows() == [
        (0.0, 1, 4, 1.0), (1.0, 2, 5, 0.5), (2.0, 3, 3, 0.0), (4.0, 3, 6, 0.25), (5.0, 4, 4, 0.0),
    ]  # fmt: skip


def test_many_steps_share_slots_by_how_long_they_last() -> None:
    """More than 1600 steps become 400 slots of four steps each; the first of four is busy."""
    steps = pl.DataFrame(
        {
            "time_s": [n * 0.25 for n in range(1601)], "min": [5 - n % 2 for n in range(1601)],
            "max": [7 + n % 4 for n in range(1601)], "busy": [1.0, 0.0, 0.0, 0.0] * 400 + [0.0],
        }
    )  # fmt: skip
    few, slot = queue._thinned(steps)
    assert slot == 1.0
    assert few.height == 400
    assert few["time_s"].to_list()[:3] == [0, 1, 2]
    assert (few["max"].unique().to_list(), few["min"].unique().to_list()) == ([10], [4])
    assert few["busy"].to_list() == pytest.approx([0.25] * 400)
    whole, none = queue._thinned(steps.head(1600))
    assert (whole.height, none) == (1600, 0.0)


def test_a_queue_is_drawn_to_a_fifth_above_its_limit() -> None:
    results = incast.run(document(run={"seeds": 1}), traces=["queue"])
    figure = results.plot.queue()
    length, use = figure.axes
    assert figure.get_size_inches().tolist() == [7.2, 4.4]
    assert length.get_ylim() == pytest.approx((0, 32 * 1.18), abs=0.5), "32 KiB of buffer"
    assert use.get_ylim() == (0, 100)
    assert (length.margins()[0], use.margins()[0]) == (0, 0)
    (band,) = length.collections
    assert (band.get_alpha(), band.get_linewidth().tolist()) == (0.35, [0])  # type: ignore[union-attr]
    line = length.get_lines()[0]
    assert (line.get_linewidth(), line.get_color()) == (0.9, style.COLOURS[0])
    assert max(line.get_xdata()) < 20, "milliseconds"  # type: ignore[type-var]
    low, high = use.collections[0].get_paths()[0].vertices[:, 1].min(), 100.0  # type: ignore[index]
    assert (low, high) == (0, 100)
    ratio = length.get_subplotspec().get_gridspec().get_height_ratios()  # type: ignore[union-attr]
    assert list(ratio) == [3.4, 1]


# Swimlane.


def events(rows: list[tuple[float, str, int, str, float]]) -> pl.DataFrame:
    names = ["time_s", "kind", "flow", "cause", "wait_s"]
    return pl.DataFrame(rows, names, orient="row").with_columns(block=pl.lit(0))


def test_a_lane_lasts_from_its_request_to_its_last_byte() -> None:
    own = events(
        [
            (1.0, "request", 1, "", 0.0), (2.0, "flow_done", 1, "", 0.0),
            (1.5, "request", 2, "", 0.0), (3.0, "timeout", 3, "", 0.0),
            (2.5, "flow_done", 3, "", 0.0), (1.2, "request", 4, "", 0.0),
            (2.5, "flow_done", 4, "", 0.0),
        ]
    )  # fmt: skip
    assert swimlane._lanes(own, 0.5, 9.0).rows() == [
        (2, 1.5, 9.0), (3, 0.5, 2.5), (4, 1.2, 2.5), (1, 1.0, 2.0),
    ]  # fmt: skip


def test_a_stall_lasts_from_the_event_before_it() -> None:
    other = next(iter(OTHER_STALLS)).removeprefix("stalls_")
    cause = FULL.removeprefix("timeouts_")
    own = events(
        [
            (1.0, "request", 1, "", 0.0), (1.2, "tail_probe", 1, "", 0.0),
            (1.5, "timeout", 1, cause, 0.0), (2.0, "timeout", 1, cause, 0.0),
            (2.5, "timeout", 2, cause, 0.0), (3.0, "stall", 2, other, 0.4),
            (3.1, "stall", 2, "timeout", 0.4), (9.0, "timeout", 2, cause, 0.0),
        ]
    )  # fmt: skip
    found = swimlane._stalls(own, 5.0)
    assert [(one.lane, one.start, one.end) for one in found] == [
        (1, 1.0, 1.5), (1, 1.5, 2.0), (2, 2.5, 2.5), (2, pytest.approx(2.6), 3.0), (2, 2.5, 5.0),
    ]  # fmt: skip
    assert found[3].cause == f"stalls_{other}"


def test_the_link_idles_within_the_block() -> None:
    kinds = ["link_idle", "link_busy", "link_busy", "link_idle", "link_busy", "link_idle"]
    found = events([(float(n), kind, -1, "", 0.0) for n, kind in enumerate(kinds)])
    assert swimlane._idle(found, 0.5, 6.0) == [(0.5, 1.0), (3.0, 4.0), (5.0, 6.0)]
    assert swimlane._idle(found, 1.0, 3.5) == [(3.0, 3.5)]
    assert swimlane._idle(found, 4.5, 5.0) == []


@pytest.mark.parametrize(
    ("stalls", "waits"),
    [
        ([], [(1, 0.2, 0.5)]),
        ([_Stall(2, 0.2, 0.5, FULL)], [(1, 0.2, 0.5)]),
        ([_Stall(1, 0.2, 0.5, FULL)], []),
        ([_Stall(1, 0.1, 0.4, FULL)], []),
        ([_Stall(1, 0.1, 0.39, FULL)], [(1, 0.2, 0.5)]),
        ([_Stall(1, 0.21, 0.9, FULL)], [(1, 0.2, 0.5)]),
    ],
)
def test_a_lane_waits_where_the_link_idles_for_long(
    stalls: list[_Stall], waits: list[tuple[int, float, float]]
) -> None:
    shown = pl.DataFrame({"lane": [1, 2], "start_s": [0.0, 0.0], "end_s": [1.0, 0.25]})
    idle = [(0.2, 0.5), (0.6, 0.7)]
    assert swimlane._waits(shown, stalls, idle, 0.1) == waits


@pytest.mark.parametrize(
    ("lanes", "ticks"), [(3, [0, 1, 2]), (24, list(range(24))), (25, list(range(0, 25, 2)))]
)
def test_a_frame_has_room_for_its_lanes(lanes: int, ticks: list[int]) -> None:
    one = axes()
    swimlane._frame(one, list(range(7, 7 + lanes)), 12.0)
    assert list(one.get_yticks()) == ticks
    assert one.get_yticklabels()[-1].get_text() == str(7 + ticks[-1])
    assert one.get_ylim() == (lanes - 0.4, -0.6)
    assert one.get_xlim() == (0, 12)


def test_a_stall_is_a_hatched_bar_with_an_end() -> None:
    one = axes()
    swimlane._bar(one, _Stall(5, 1.25, 1.5, FULL), 2, 1.0)
    assert boxes(one) == [(250, 2 - 0.31, 250, 0.62)]
    (bar,) = one.patches
    assert (bar.get_linewidth(), bar.get_edgecolor()) == (0.4, (0.15, 0.15, 0.15, 1))
    (end,) = one.get_lines()
    assert (list(end.get_xdata()), list(end.get_ydata())) == ([500], [2])
    assert (end.get_marker(), end.get_markersize(), end.get_markeredgewidth()) == ("|", 7, 1.3)


def test_the_legend_names_the_longest_stall_and_the_idle_share() -> None:
    other = next(iter(OTHER_STALLS))
    figure, _ = style.sheet("", "")
    stalls = [_Stall(1, 0.0, 0.1, other), _Stall(1, 1.0, 1.3, other), _Stall(1, 0, 9, FULL)]
    swimlane._legend(figure, stalls, [(1, 0.0, 0.1)], [(0.0, 0.5), (1.0, 1.5)], 4.0)
    assert named(figure) == [
        "request to last byte", "waits, link idle", f"stalled: {CAUSES[FULL]}",
        f"stalled: {OTHER_STALLS[other]}, 300 ms", "link idle: 25 %",
    ]  # fmt: skip
    plain, _ = style.sheet("", "")
    swimlane._legend(plain, [], [], [], 4.0)
    assert named(plain) == ["request to last byte"]


def test_numbers_beside_a_swimlane_begin_with_its_block() -> None:
    lanes = pl.DataFrame({"lane": [3], "start_s": [1.0], "end_s": [2.0]})
    stalls, idle = [_Stall(3, 1.25, 1.5, FULL)], [(1.0, 1.125)]
    assert swimlane._data(lanes, stalls, [(3, 1.5, 2.0)], idle, 1.0).rows() == [
        ("request", 3, 0.0, 1.0), (FULL, 3, 0.25, 0.5), ("waiting", 3, 0.5, 1.0),
        ("link_idle", None, 0.0, 0.125),
    ]  # fmt: skip


def test_a_swimlane_is_in_milliseconds_since_its_request() -> None:
    tree = document(run={"seeds": 1}, workload={"servers": 32}, network={"buffer": "16KiB"})
    results = incast.run(tree, traces=["events"])
    figure = results.plot.swimlane(block=1)
    (one,) = figure.axes
    assert figure.get_size_inches().tolist() == pytest.approx([7.6, 2.1 + 0.16 * 32])
    (job,) = results.traces.find({})
    found = results.traces.of("events", job).filter(pl.col("block") == 1)
    start = found.filter(pl.col("kind") == "block_start")["time_s"][0]
    end = found.filter(pl.col("kind") == "block_done")["time_s"][0]
    assert one.get_xlim() == pytest.approx((0, 1e3 * (end - start)))
    lanes = {round(box[1] + 0.31): box for box in boxes(one) if abs(box[3] - 0.62) < 1e-6}
    rows = found.filter(pl.col("kind") == "flow_done").sort("flow")["time_s"].to_list()
    first = boxes(one)
    ends = [round(left + width, 3) for left, _, width, height in first if height == 0.62]
    assert {round(1e3 * (at - start), 3) for at in rows} <= set(ends)
    assert len(lanes) == 32
    waiting = {box.get_linewidth() for box in one.patches if box.get_facecolor()[0] > 0.7}
    assert swimlane._WAITING["linewidth"] == 0.4
    assert waiting <= {0, 0.4}


@pytest.mark.parametrize(("lanes", "inches"), [(2, 3.7), (10, 3.7), (20, 5.3), (64, 8.5)])
def test_a_swimlane_is_as_high_as_its_lanes(lanes: int, inches: float) -> None:
    assert 2.1 + min(max(0.16 * lanes, 1.6), 6.4) == pytest.approx(inches)
    tree = document(run={"seeds": 1}, workload={"servers": lanes, "blocks": 1})
    figure = incast.run(tree, traces=["events"]).plot.swimlane()
    assert figure.get_size_inches()[1] == pytest.approx(inches)
