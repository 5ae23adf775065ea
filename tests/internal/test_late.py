"""Blocks that wait for one sender: they are found in events, measured and drawn."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from incast.errors import FigureError
from incast.reproduce import papers as texts
from incast.reproduce.execute import reproduce
from incast.reproduce.judge import Verdict
from incast.reproduce.late import Late, find, idle
from incast.reproduce.runs import lay_out

ROOT = Path(__file__).resolve().parents[2]


def block(number: int, late: list[int], cause: str = "full_window") -> list[dict[str, object]]:
    """Return a block of 1 s: losses at 0.1 s, an idle link from 0.3 to 0.9 s, timeouts at 0.9 s."""
    place = {"place": "block_head", "cause": cause, "dupacks": 2}
    told = [
        (0.0, "block_start", -1, {}),
        *((0.1, "drop", flow, {}) for flow in late),
        (0.3, "link_idle", -1, {}),
        *((0.9, "timeout", flow, place) for flow in late),
        (0.9, "link_busy", -1, {}),
        *((0.95, "flow_done", flow, {"cwnd": 9000 - flow}) for flow in range(3)),
        (1.0, "link_idle", -1, {}),
        (1.0, "block_done", -1, {}),
    ]
    empty = {"place": "", "cause": "", "dupacks": 0, "cwnd": 0}
    return [
        {"time_s": number + time, "kind": kind, "flow": flow, "block": number, **empty, **more}
        for time, kind, flow, more in told
    ]


def events(*blocks: list[int]) -> pl.DataFrame:
    return pl.DataFrame([row for i, late in enumerate(blocks) for row in block(i, late)])


HEAD = Late(cause="full_window", place="block_head")


def test_a_block_is_found_that_waits_for_one_sender() -> None:
    found = find(events([0, 1], [], [1], [2]), HEAD)
    assert found is not None
    assert (found.start_s, found.end_s, found.flows) == (2.0, 3.0, [1])
    assert found.measures == {
        "late_wait_s": pytest.approx(0.8),
        "late_idle_s": pytest.approx(0.6),
        "late_after_s": pytest.approx(0.1),
        "late_dupacks": 2.0,
        "late_window_rank": 2.0,  # flow 1 has the second of the windows 9000, 8999, 8998
    }


def test_blocks_in_a_row_wait_for_different_senders() -> None:
    wanted = replace(HEAD, blocks=2)
    found = find(events([0], [0], [2], []), wanted)
    assert found is not None
    assert found.flows == [0, 2]
    assert found.measures["late_window_rank"] == 3.0  # the higher rank of the two blocks
    assert find(events([0], [0], [], [2]), wanted) is None
    assert find(events([0], [2]), replace(wanted, after=1)) is None


def test_the_cause_the_place_and_the_end_of_the_block_count() -> None:
    assert find(events([0]), replace(HEAD, cause="tail")) is None
    assert find(events([0]), replace(HEAD, place="inside")) is None
    assert find(events([0]).filter(pl.col("kind") != "block_done"), HEAD) is None


def test_the_link_idles_until_it_is_busy_again() -> None:
    times = [time for pair in idle(events([0], [])) for time in pair]
    assert times == pytest.approx([0.3, 0.9, 1.3, 1.9])


def test_a_search_is_for_a_metric_or_for_late_senders() -> None:
    from incast.reproduce.figure import Search

    with pytest.raises(FigureError, match="exactly one of metric and late"):
        Search.from_toml({"seeds": 3}, "here")


def test_the_timeline_shows_the_blocks_that_were_searched_for(tmp_path: Path) -> None:
    (chosen,) = texts.select(texts.load(ROOT / "papers"), ["kulkarni/3.3"])
    assert chosen.figure.search is not None
    assert {need.traces for need in lay_out(chosen, quick=True).needs} == {("cwnd", "events")}
    (done,) = reproduce([chosen], tmp_path, quick=True, workers=2)
    assert done.picture is not None
    assert {judgement.verdict for judgement in done.judgements} == {Verdict.HOLDS}
    assert len(done.picture.figure.axes) == 3
    assert done.picture.data["flow"].n_unique() == 3
    shown = done.picture.data["time_s"]
    assert 0.2 < shown.max() - shown.min() < 0.4  # type: ignore[operator]
    assert len(list((tmp_path / "flows").iterdir())) == 1  # windows only of the run that was found
