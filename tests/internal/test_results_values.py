"""Values of results: the time spent on a directory, merges, and sentences about rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incast
from conftest import document
from incast.results import causes, caveats, compare, manifest, waits
from incast.results.causes import CAUSES, OTHER_STALLS
from incast.results.collapse import COLLAPSED
from incast.results.merge import merge
from incast.results.store import Directory


def test_the_time_of_all_processes_is_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("incast.results.store.time.monotonic", lambda: now[0])
    scenario = incast.load(document())
    for seconds, whole in ((2.5, 2.5), (0.1234, 2.623), (0.0, 2.623)):
        store = Directory.create(tmp_path, scenario, [])
        assert store.manifest["wall_s"] == pytest.approx(whole - seconds, abs=6e-4)
        now[0] += seconds
        store.close("done")
        told = manifest.read(tmp_path)
        assert told is not None
        assert (told["wall_s"], told["status"]) == (whole, "done")


def test_a_new_directory_has_taken_no_time(tmp_path: Path) -> None:
    store = Directory.create(tmp_path, incast.load(document()), ["queue"])
    assert store.manifest["wall_s"] == 0
    assert (store.manifest["status"], store.manifest["traces"]) == ("running", ["queue"])
    store.widen([1, 2, 3])
    told = manifest.read(tmp_path)
    assert told is not None
    assert (told["plan"]["seeds"], told["wall_s"]) == ([1, 2, 3], 0)


@pytest.mark.parametrize("name", ["a", "z", "m"])
def test_other_directories_are_merged_whatever_their_names(tmp_path: Path, name: str) -> None:
    """Directories with names before and after `m`, and `m` itself, are merged into `m`."""
    incast.run(document(run={"seeds": [1]}), out=tmp_path / "m")
    incast.run(document(run={"seeds": [2, 3]}), out=tmp_path / name)
    done = merge(tmp_path / "m", [tmp_path / name])
    assert (done.runs, done.asked, done.packs) == (3, 3, 1)
    assert len(incast.open_results(tmp_path / "m")) == 3


def rows(*shares: float | None, ok: int = 4) -> list[dict[str, Any]]:
    return [{COLLAPSED: share, "ok": ok} for share in shares]


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ([0.0, 1.0, None], ""),
        ([0.25], " (Two outcomes: at p0 1 of 4 seeds collapse; use --seeds to run more.)"),
        (
            [0.5, 0.0, 0.75],
            (
                " (Two outcomes: at p0 2 of 4 seeds collapse, at p2 3 of 4 seeds collapse; "
                "use --seeds to run more.)"
            ),
        ),
    ],
)
def test_seeds_that_differ_are_told(shares: list[float | None], told: str) -> None:
    points = [f"p{n}" for n in range(len(shares))]
    assert caveats.outcomes(rows(*shares), points) == told


def test_of_many_points_with_two_outcomes_the_first_are_named() -> None:
    most = caveats._MOST
    points = [f"p{n}" for n in range(most + 2)]
    assert "more points" not in caveats.outcomes(rows(*[0.5] * most), points[:most])
    told = caveats.outcomes(rows(*[0.5] * (most + 2)), points)
    assert told.endswith(", and some seeds at 2 more points; use --seeds to run more.)")
    assert f"p{most - 1} 2 of 4" in told
    assert f"p{most} " not in told


def point(**row: float | None) -> dict[str, float | None]:
    return dict.fromkeys(CAUSES, 0.0) | {"timeouts": 4.0, "timeouts_per_block": 0.5} | row


def test_timeouts_are_told_per_block_and_by_their_cause() -> None:
    first, second = list(CAUSES)[:2]
    assert causes.told(point()) == "0.50 timeouts per block"
    assert causes.told(point(), "round") == "0.50 timeouts per round"
    assert causes.told(point(timeouts_per_block=None)) == "4.0 timeouts"
    assert causes.told(point(timeouts=0.0)) == "no timeout"
    assert causes.most(point(**{first: 1.0, second: 3.0})) == f"75\xa0% {CAUSES[second]}"
    assert causes.most(point(timeouts=0.0)) == causes.most(point(**{first: None})) == ""
    assert causes.column("tail") == "timeouts_lack_of_dupacks"
    assert causes.column("handshake") == "timeouts_handshake"


def test_waits_without_a_timeout_are_told_per_block() -> None:
    one, two, *_ = (name for name in OTHER_STALLS if name != "stalls_network")
    row: dict[str, Any] = {"blocks": 4.0, "timeouts": 0.0, one: 6.0, two: 2.0, "stall_max_s": 0.25}
    assert waits.others(row) == 2.0
    text = waits.sentence(row, "at 24 servers")
    assert text.startswith(
        " But blocks wait, at 24 servers: 2.0 stalls per block of up to 250 ms, "
    )
    assert f"75\xa0% of them {waits._FOR[one]}." in text
    also = waits.sentence(row | {"timeouts": 1.0, two: 0.0}, "")
    assert also == f" Blocks also wait without a timeout: 1.5 stalls per block, {waits._FOR[one]}."
    flows = {"blocks": 0.0, "timeouts": 0.0, one: 3.0, "stalls_network": 9.0}
    assert waits.others(flows) == 3.0
    assert waits.sentence(flows, "").startswith(" But flows wait: 3.0 stalls, ")
    assert waits.sentence({"blocks": 4.0, "timeouts": 0.0}, "") == ""


@pytest.mark.parametrize(
    ("ours", "theirs", "several"),
    [
        ([0.0, 1.0], [1.0, 1.0], True),
        ([1.0, 1.0], [1.0, 2.01], True),
        ([1.0, 2.0], [1.0, 2.0], False),
        ([-1.0, 5.0], [1.0, 1.0], False),
        ([0.0, 0.0], [0.0, 0.0], False),
    ],
)
def test_outcomes_are_of_several_kinds_if_the_most_is_twice_the_least(
    monkeypatch: pytest.MonkeyPatch, ours: list[float], theirs: list[float], several: bool
) -> None:
    seen: list[tuple[float, float, bool]] = []

    def interval(_: object, least: float, most: float, *, flags: bool) -> tuple[float, float]:
        seen.append((least, most, flags))
        return 0.25, 0.75

    monkeypatch.setattr(compare, "interval", interval)
    values = np.array(ours), np.array(theirs)
    told = compare.paired("goodput_bps", values, ((0.0, 10.0), (1.0, 7.0)))
    assert seen == [(-9.0, 7.0, several)], "the least of B minus the most of A, and so on"
    assert (told.low, told.high, told.seeds) == (0.25, 0.75, 2)
    assert told.difference == sum(theirs) / 2 - sum(ours) / 2
    one = compare.paired("goodput_bps", (values[0][:1], values[1][:1]), ((0, 1), (0, 1)))
    assert (one.low, one.high) == (None, None)
