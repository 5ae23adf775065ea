"""Waits without a timeout: their columns, sentence, events and picture."""

from typing import Any

import polars as pl
import pytest

import incast
from incast.plots import KINDS
from incast.results import Results
from incast.results.causes import OTHER_STALLS, STALLS
from incast.results.columns import usual
from incast.results.statistics import summarise
from incast.results.verdict import sentences
from incast.results.waits import sentence


@pytest.fixture(scope="module")
def linux() -> Results:
    """Return short reads that overflow a buffer; each answer is a single segment."""
    return incast.run(
        {
            "title": "Lost ends",
            "profile": "linux",
            "network": {"rate": "10Gbps", "delay": "5us", "buffer": "4KB"},
            "workload": {
                "name": "barrier-read", "servers": 8, "sru": 1000, "blocks": 4,
                "request_jitter": "0us",
            },
            "transport": {
                "name": "cubic",
                "rto_min": "200ms",
                "timer_tick": "0s",
                "send_jitter": "0s",
            },
            "run": {"seeds": 2},
        },
        traces=["events"],
    )  # fmt: skip


def test_a_probe_that_takes_as_long_as_a_timeout_is_seen(linux: Results) -> None:
    rows = linux.frame()
    assert rows["timeouts"].sum() == 0
    assert rows["tail_probes"].sum() > 0
    assert (rows["stalls"] == rows["stalls_tail_probe"]).all()
    longest = rows["stall_max_s"].max()
    assert isinstance(longest, float)
    assert 0.2 < longest < 0.22
    assert longest == linux.summary()["stall_max_s"].item()


def test_the_verdict_never_says_no_timeout_and_nothing_else(linux: Results) -> None:
    (line,) = sentences(linux.summary(), linux.plan.swept, linux.resolved)
    line = line.replace("\N{NO-BREAK SPACE}", " ")
    assert "without a timeout" in line or "no timeout" in line
    assert "But blocks wait: " in line
    assert line.endswith("for a tail-loss probe.")


def test_the_table_has_a_column_of_stalls_where_timeouts_do_not_tell_them(linux: Results) -> None:
    (column,) = [one for one in usual(linux.summary()) if one.name == "stalls"]
    assert float(column.cells[0]) == linux.summary()["stalls"].item() > 0
    plain = linux.summary().with_columns(pl.lit(0.0).alias(name) for name in OTHER_STALLS)
    assert "stalls" not in {one.name for one in usual(plain)}


def test_events_tell_how_long_and_why(linux: Results) -> None:
    for job in linux.traces.find({}):
        events = linux.traces.of("events", job)
        stalls = events.filter(pl.col("kind") == "stall")
        row = linux.frame().filter(pl.col("seed") == job.seed)
        assert stalls.height == row["stalls"].item()
        assert stalls["wait_s"].max() == row["stall_max_s"].item()
        assert (stalls["cause"] == "tail_probe").all()
        assert events.filter(pl.col("kind") == "tail_probe").height == row["tail_probes"].item()
        others = events.filter(pl.col("kind") != "stall")
        assert others["wait_s"].is_nan().all()


def test_the_wait_is_drawn_with_its_cause(linux: Results) -> None:
    picture = KINDS["swimlane"].draw(linux)
    waits = picture.data.filter(pl.col("what") == "stalls_tail_probe")
    assert waits.height == 1
    assert (waits["end_s"] - waits["start_s"]).item() > 0.19
    requests = picture.data.filter(pl.col("what") == "request")
    assert requests.height == 8
    (legend,) = picture.figure.legends
    labels = [text.get_text().replace("\N{NO-BREAK SPACE}", " ") for text in legend.get_texts()]
    assert any(label.startswith("stalled: tail-loss probe, 20") for label in labels)


def test_the_columns_are_those_that_sum_to_all_of_them(linux: Results) -> None:
    rows = linux.frame()
    causes = {name for name in rows.columns if name.startswith("stalls_")}
    assert causes == set(STALLS)
    assert (rows["stalls"] == rows.select(pl.sum_horizontal(list(STALLS))).to_series()).all()


def means(**counts: Any) -> dict[str, Any]:
    return {"blocks": 100.0, "timeouts": 0.0, **dict.fromkeys(OTHER_STALLS, 0.0), **counts}


@pytest.mark.parametrize(
    ("row", "where", "expected"),
    [
        (means(), "", ""),
        (means(stalls_timeout=3.0, timeouts=3.0), "", ""),
        (
            means(stalls_tail_probe=2.0, stall_max_s=0.211),
            "at 24 servers",
            (
                " But blocks wait, at 24 servers: 0.020 stalls per block of up to 211 ms, for a "
                "tail-loss probe."
            ),
        ),
        (
            means(stalls_pacer=3.0, stalls_network=1.0, timeouts=1.0, stall_max_s=0.2),
            "",
            (
                " Blocks also wait without a timeout: 0.040 stalls per block, 75 % of them for the "
                "sender's pacer."
            ),
        ),
        (
            means(stalls_delayed_ack=3.0, blocks=0.0, stall_max_s=0.04),
            "",
            " But flows wait: 3.0 stalls of up to 40 ms, for a delayed ACK.",
        ),
    ],
)
def test_the_sentence(row: dict[str, Any], where: str, expected: str) -> None:
    assert sentence(row, where).replace("\N{NO-BREAK SPACE}", " ") == expected


def test_of_a_point_the_longest_stall_is_that_of_all_its_runs() -> None:
    runs = [(1, 0.2), (2, None), (3, 0.05)]
    frame = pl.DataFrame(
        [
            {
                "point": 0,
                "seed": seed,
                "status": "ok",
                "blocks": 1,
                "timeouts": 0,
                "stall_max_s": it,
            }
            for seed, it in runs
        ]
    )
    summary = summarise(frame, [])
    assert summary["stall_max_s"].to_list() == [0.2]
    assert summary["stall_max_s_ci95_low"].to_list() == [None]
