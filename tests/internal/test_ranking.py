"""The ranking of remedies is complete and reproducible, and its ideal is an upper limit."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

import incast
from incast import _core
from validation.ranking import table
from validation.ranking.draw import RANGES, Drawn, scenarios
from validation.ranking.ideal import completion_s
from validation.ranking.judge import judge, wilson
from validation.ranking.parties import PARTIES, group
from validation.ranking.rows import rows

DEEP = Drawn(
    buffer=16 << 20,
    sru=256 << 10,
    rate=1_000_000_000,
    round_trip_ns=100_000,
    servers=8,
    background_permille=100,
)


def test_every_remedy_says_who_must_change() -> None:
    remedies = {entry["name"] for entry in json.loads(_core.entries("remedies"))}
    assert remedies <= set(PARTIES), "add it to validation/ranking/parties.py"
    named = {name for row in rows() for name in row.names}
    assert named <= set(PARTIES)
    assert set(PARTIES) == remedies | named  # no remedy that was removed
    assert remedies <= named  # scenarios/remedies.toml leaves no remedy out


def test_groups() -> None:
    assert group(["newreno"]) == "nobody"
    assert group(["adaptive-rto", "fine-rto"]) == "sender"
    assert group(["ictcp", "fine-rto"]) == "sender and receiver"
    assert group(["efr", "fine-rto"]) == "switch"
    assert group(["batching"]) == "application"


def test_rows_have_labels_of_their_own() -> None:
    labels = [row.label for row in rows()]
    assert len(set(labels)) == len(labels)
    assert "ictcp + fine-rto" in labels


def test_drawn_scenarios_are_the_same_every_time_and_within_the_ranges() -> None:
    drawn = list(islice(scenarios(), 50))
    assert drawn == list(islice(scenarios(), 50))
    for key, (least, most, _) in RANGES.items():
        assert all(least <= getattr(one, key) <= most for one in drawn)


def test_switches_mark_later_on_fast_links() -> None:
    def marks(drawn: Drawn) -> set[str]:
        queues = [point.resolved["network"]["queue"] for point in drawn.scenario().plan.points]
        return {queue["threshold"] for queue in queues if queue["name"] == "ecn-threshold"}

    assert marks(DEEP) == {"20pkt"}
    assert marks(replace(DEEP, rate=40_000_000_000, round_trip_ns=200_000)) == {"95pkt"}


def test_a_read_without_losses_comes_close_to_the_ideal_and_is_never_faster() -> None:
    """There is no background traffic, because its losses would leave more bandwidth to the read."""
    alone = replace(DEEP, background_permille=0)
    for drawn in (alone, replace(alone, servers=64, sru=32 << 10)):
        scenario = incast.load(
            {**drawn.scenario().document, "background": [], "transport": {"name": "newreno"}}
        )
        scenario.document.pop("sweep")
        (read,) = incast.run(scenario).frame().rows(named=True)
        assert read["timeouts"] == 0
        assert 0.97 < completion_s(drawn) / read["completion_s"] <= 1


def test_the_ideal_leaves_room_for_the_other_traffic() -> None:
    alone = completion_s(replace(DEEP, background_permille=0))
    assert completion_s(DEEP) == pytest.approx(alone / 0.9, rel=0.01)


def test_what_is_kept_is_what_the_simulator_says() -> None:
    """A short form of `validation/ranking`, which covers every remedy."""
    for drawn, shares in table.read()[:2]:
        again = table.simulate(drawn, 1, {"newreno", "dctcp"})
        assert again == {label: shares[label] for label in again}


def test_an_interrupted_table_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[set[str]] = []

    def simulate(drawn: Drawn, jobs: int | None, only: set[str]) -> table.Shares:
        runs.append(only)
        return dict.fromkeys(only, 0.5)

    monkeypatch.setattr(table, "PATH", tmp_path / "shares.csv")
    monkeypatch.setattr(table, "simulate", simulate)
    labels = {row.label for row in rows()}
    assert list(table.make(2, 1)) == [0, 1]
    assert list(table.make(3, 1)) == [2]
    assert runs == [labels] * 3
    lines = (tmp_path / "shares.csv").read_text().replace("newreno", "forgotten").splitlines()
    (tmp_path / "shares.csv").write_text("\n".join(lines) + "\n")
    assert list(table.make(3, 1)) == [0, 1, 2]
    assert runs[3:] == [{"newreno"}] * 3
    assert [set(shares) for _, shares in table.read()] == [labels] * 3


def test_some_of_the_rows_are_run_as_they_are_run_among_all() -> None:
    drawn = next(scenarios())
    some = table.simulate(drawn, 1, {"ocs", "efr + fine-rto"})
    everyone = table.simulate(drawn, 1)
    assert some == {label: everyone[label] for label in ("ocs", "efr + fine-rto")}


def test_the_best_of_a_group_is_never_worse_than_its_members() -> None:
    ranking = judge(table.read())
    for members in ranking.groups:
        for standing in members.standings:
            for mine, best, all_of_them in zip(
                standing.kept, members.best.kept, ranking.best.kept, strict=True
            ):
                assert mine.share <= best.share <= all_of_them.share
                assert 0 <= mine.low <= mine.share <= mine.high <= 1


def test_wilson() -> None:
    """The expected intervals for 81 of 263 and for 0 of 20 are from Table I of Newcombe (1998)."""
    kept = wilson(81, 263)
    assert (kept.low, kept.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    nothing = wilson(0, 20)
    assert (nothing.low, nothing.high) == pytest.approx((0.0, 0.1611), abs=5e-5)
