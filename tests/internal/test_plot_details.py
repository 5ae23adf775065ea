"""Pictures of large and of small amounts of data."""

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection, PolyCollection

import incast
from conftest import document
from incast.plots import KINDS, Moment, cdf, queue, style, swimlane
from incast.plots.swimlane import _Stall

NAMES = ["newreno", "tahoe", "reno", "cubic", "dctcp", "vegas", "swift"]


@pytest.mark.parametrize(("curves", "bands", "bars"), [(2, 2, 0), (7, 0, 7)])
def test_bands_of_many_curves_are_bars(curves: int, bands: int, bars: int) -> None:
    swept = {"transport.name": NAMES[:curves], "workload.servers": [2, 4, 8]}
    axes = incast.run(document(sweep=swept)).plot.goodput().axes[0]
    assert sum(isinstance(one, PolyCollection) for one in axes.collections) == bands
    assert sum(isinstance(one, LineCollection) for one in axes.collections) == bars
    low, high = axes.get_xlim()
    assert low < 2
    assert 8 < high < 9


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sru", ["8KiB", "32KiB", "100KiB"])
def test_a_single_point_has_a_range_before_its_guides(sru: str) -> None:
    workload = {"name": "barrier-read", "servers": 8, "sru": sru, "blocks": 2}
    axes = incast.run(document(workload=workload)).plot.completion().axes[0]
    low, high = axes.get_ylim()
    assert 0 < low < high


def test_a_star_is_larger_than_other_marks() -> None:
    sizes = [style.curve(index).get("markersize", 0) for index in range(8)]
    assert sizes == [0] * 6 + [style._STAR, 0]


@pytest.mark.parametrize("blocks", [20, 60, 99, 101, 150, 600, 1100])
def test_labels_of_shares_are_apart(blocks: int) -> None:
    tree = document(workload={"blocks": blocks // 2, "servers": 2, "sru": "2KiB"})
    axes = incast.run(tree).plot.cdf().axes[0]
    heights = [-np.log10(1 - share) for share in axes.get_yticks()]
    assert min(np.diff(heights)) >= cdf._APART * heights[-1]
    assert axes.yaxis.get_major_formatter()(axes.get_yticks()[-1]) == "all"


def test_a_single_point_has_its_values_side_by_side() -> None:
    axes = incast.run(document()).plot.completion().axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["median", "99th percentile"]
    assert sum(text.get_text().endswith("s") for text in axes.texts) >= 2


@pytest.mark.filterwarnings("error")
def test_only_a_read_has_a_time_at_line_rate() -> None:
    shuffle = {"name": "all-to-all", "message": "30KiB", "rounds": 3}
    tree = {"network": {"clients": 3}, "workload": shuffle, "run": {"seeds": 1}}
    for drawn, is_read in ((tree, False), (document(), True)):
        figure = incast.run(drawn).plot.completion()
        named = [text.get_text() for text in figure.legends[0].get_texts()]
        assert ("at line rate" in named) == is_read


def test_a_threshold_is_named_beside_the_picture() -> None:
    marking = {"queue": {"name": "ecn-threshold", "threshold": "5pkt"}}
    tree = document(network=marking, transport={"name": "dctcp"}, run={"seeds": 1})
    figure = incast.run(tree, traces=["queue"]).plot.queue()
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "ecn-threshold: threshold 5pkt" in named
    assert all("threshold" not in text.get_text() for text in figure.axes[0].texts)


def test_many_steps_of_a_queue_are_slots_with_their_extremes() -> None:
    count = 10 * queue._SLOTS
    steps = pl.DataFrame(
        {
            "time_s": np.arange(count) * 0.01,
            "min": np.zeros(count, dtype=int),
            "max": np.arange(count) % 37,
            "busy": np.where(np.arange(count) % 2 == 0, 1.0, 0.0),
        }
    )
    few, slot = queue._thinned(steps)
    assert few.height == queue._SLOTS
    assert slot == pytest.approx(0.01 * (count - 1) / queue._SLOTS)
    assert few["max"].max() == 36
    assert few["min"].max() == 0
    assert few["busy"].mean() == pytest.approx(0.5, abs=0.01)
    short, none = queue._thinned(steps[:100])
    assert (short.height, none) == (100, 0.0)


def test_a_lane_that_waits_on_an_idle_link_is_no_work() -> None:
    shown = pl.DataFrame({"lane": [1, 2, 3], "start_s": [0.0] * 3, "end_s": [0.3, 0.1, 0.3]})
    stalls = [_Stall(3, 0.05, 0.25, "timeouts_full_window")]
    idle = [(0.001, 0.0015), (0.1, 0.25)]
    assert swimlane._waits(shown, stalls, idle, 0.001) == [(1, 0.1, 0.25)]


def test_waits_are_drawn_and_stored() -> None:
    tree = {
        "profile": "linux",
        "network": {"rate": "10Gbps", "buffer": "256KiB"},
        "workload": {"servers": 32, "sru": "64KiB", "blocks": 10, "request_jitter": "1.2us"},
        "transport": {"name": "newreno"},
        "run": {"seeds": [8]},
    }
    results = incast.run(tree, traces=["events"])
    kinds = [
        KINDS["swimlane"].draw(results, Moment(block=block)).data["what"] for block in range(10)
    ]
    assert any("waiting" in kind for kind in kinds)


def test_titles_name_the_profile() -> None:
    figure = incast.run(document() | {"profile": "rfc"}).plot.completion()
    assert any("profile rfc" in text.get_text() for text in figure.texts)
