"""The definition of collapse: its limits, and its lossless goodput."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incast
from conftest import document
from incast.collapse import collapsed
from incast.models import MODELS
from incast.results.collapse import at_points
from incast.scenario.lossless import lossless_goodput

NAN = math.nan


@pytest.mark.parametrize(
    ("goodput", "timeouts", "waits", "expected"),
    [
        (499e6, 0.5, 0.0, True),  # a timeout in every other block
        (501e6, 9.0, 9.0, False),  # the goodput is not below half of the lossless goodput
        (499e6, 0.49, 0.0, False),  # the timeouts are rarer, and the waits are too short
        (100e6, 0.0, 0.0, False),  # slow, but without a timeout
        (100e6, 0.1, 0.0046, True),  # 1 Mbit takes 10 ms instead of 1 ms; 4.6 ms of 9 ms are waits
        (100e6, 0.1, 0.0044, False),
        (100e6, NAN, 0.0046, True),  # a workload without blocks
        (0.0, 1.0, 1.0, True),
    ],
)
def test_half_of_the_lossless_goodput_by_timeouts(
    goodput: float, timeouts: float, waits: float, expected: bool
) -> None:
    assert bool(collapsed(goodput, 1e9, 1e6, timeouts, waits)) is expected


@given(st.lists(st.floats(0, 1e9), min_size=1), st.floats(0, 3), st.floats(0, 1))
def test_less_goodput_and_as_many_timeouts_never_undo_a_collapse_by_frequent_ones(
    goodputs: list[float], timeouts: float, waits: float
) -> None:
    ordered = np.sort(goodputs)[::-1]
    told = collapsed(ordered, 1e9, 1e6, max(timeouts, 0.5), waits)
    assert (np.diff(told.astype(int)) >= 0).all()


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["lab", "linux"]),
    st.sampled_from([1, 10, 100]),
    st.sampled_from([1, 5, 50]),
    st.sampled_from([1, 2, 8, 24]),
    st.integers(4_000, 300_000),
    st.sampled_from(["persistent", "fresh"]),
    st.sampled_from(["32KiB", "1MiB"]),
)
def test_the_lossless_goodput_is_that_of_a_deep_buffer(
    profile: str, gbps: int, delay: int, servers: int, sru: int, connections: str, window: str
) -> None:
    tree: dict[str, Any] = document(
        network={"rate": f"{gbps}Gbps", "delay": f"{delay}us", "buffer": "512MiB"},
        workload={"servers": servers, "sru": sru, "connections": connections, "blocks": 3},
        transport={"receive_window": window},
        run={"seeds": 1},
    )
    results = incast.run(tree | {"profile": profile}, jobs=1)
    row = results.frame().row(0, named=True)
    assert row["timeouts"] == 0
    assert not row["collapsed"]
    # Linux's receivers delay ACKs, and the senders' windows grow with the ACKs. If a block takes
    # about five windows, a window more or less changes the goodput by a fifth.
    least = 0.9 if profile == "lab" else 0.7
    assert least < row["goodput_bps"] / row["lossless_goodput_bps"] < 1.3


@pytest.mark.parametrize(
    ("network", "workload", "transport"),
    [
        # All three segments of an answer fit into the window, and are sent one after the other.
        ({"delay": "1us"}, {"servers": 1, "sru": 4000, "blocks": 3}, {"receive_window": "32KiB"}),
        # Windows of 22 segments, on a path that holds about a thousand packets.
        ({"rate": "100Gbps", "delay": "40us"}, {"sru": "1MiB"}, {"receive_window": "32KiB"}),
        ({"server_rate": "100Mbps"}, {"servers": 3, "sru": "256KiB"}, {"receive_window": "16KiB"}),
        ({"delay": "200us"}, {"start_spread": "2ms", "connections": "fresh"}, {}),
        ({"rate": "10Gbps"}, {"request_jitter": "50us"}, {"send_jitter": "20us"}),
    ],
    ids=["few", "windows", "servers", "spread", "jitter"],
)
def test_the_lossless_goodput_knows_windows_and_who_is_late(
    network: dict[str, Any], workload: dict[str, Any], transport: dict[str, Any]
) -> None:
    tree = document(network={"buffer": "512MiB"} | network, workload=workload, transport=transport)
    results = incast.run(tree, jobs=1)
    here, row = results.resolved(0), results.summary().row(0, named=True)
    assert lossless_goodput(here) == row["lossless_goodput_bps"]
    assert row["goodput_bps"] == pytest.approx(lossless_goodput(here), rel=0.1)
    answer = MODELS["collapse"].answer(here.tree)
    assert isinstance(answer, dict)
    assert answer["collapse.lossless_goodput_bps"] == pytest.approx(lossless_goodput(here))


def test_long_flows_have_the_links_and_what_is_asked_for_bounds_a_read() -> None:
    flows = {"name": "long-flows", "servers": 4, "flows": 2, "duration": "20ms"}
    tree = document() | {"workload": flows}
    here = incast.run(tree, jobs=1).resolved(0)
    assert lossless_goodput(here) == pytest.approx(1e9 * here.mss / here.packet)
    tree = document(workload={"interval": "10ms"})
    here = incast.run(tree, jobs=1).resolved(0)
    assert lossless_goodput(here) == pytest.approx(here.demand)


def test_rows_summaries_sentences_and_the_model_agree() -> None:
    tree = document(
        network={"buffer": "100KiB"},
        workload={"sru": "64KiB", "blocks": 20, "connections": "persistent"},
        transport={"rto_min": "200ms"},
        run={"seeds": 4},
        sweep={"workload.servers": [2, 24]},
    )
    tree["workload"]["request_jitter"] = "20us"
    results = incast.run(tree)
    frame = results.frame()
    told = frame.group_by("workload.servers", maintain_order=True).agg("collapsed")
    assert told["collapsed"].to_list() == [[False] * 4, [True] * 4]
    assert results.summary()["collapsed"].to_list() == [0.0, 1.0]
    for point, goodput, expected in zip(
        results.plan.points, results.summary()["lossless_goodput_bps"], (0.0, 1.0), strict=True
    ):
        answer = MODELS["collapse"].answer(point)
        assert isinstance(answer, dict)
        assert answer["collapse.collapsed"] == expected
        assert answer["collapse.lossless_goodput_bps"] == pytest.approx(goodput)


def test_waits_for_a_tail_loss_probe_count_as_timeouts() -> None:
    tree = document()
    here = incast.run(tree, jobs=1).resolved(0)
    waiting = {
        "point": 0, "goodput_bps": 0.1 * lossless_goodput(here), "blocks": 2.0, "elapsed_s": 1.0,
        "timeouts": 0.0, "timeouts_handshake": 0.0, "stalls_tail_probe": 1.0,
    }  # fmt: skip
    assert at_points(pl.DataFrame([waiting]), lambda _: here) == [True]
    assert at_points(pl.DataFrame([waiting | {"stalls_tail_probe": 0.0}]), lambda _: here) == [
        False
    ]
    before = {name: value for name, value in waiting.items() if name != "stalls_tail_probe"}
    assert at_points(pl.DataFrame([before]), lambda _: here) == [False]


def test_background_traffic_does_not_collapse() -> None:
    tree = document() | {"background": [{"name": "cbr", "rate": "1Mbps"}]}
    frame = incast.run(tree, jobs=1).frame(None)
    assert frame.filter(frame["group"] != "all")["collapsed"].null_count() > 0
    assert frame.filter(frame["group"] == "all")["collapsed"].null_count() == 0
