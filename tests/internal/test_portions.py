"""The table of a sweep whose rows are read in portions, not all at once."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import incast
from conftest import document
from incast.errors import ResultsError
from incast.results import Results
from incast.scenario.plan import Job


@pytest.fixture
def varied(tmp_path: Path) -> Results:
    """Return results in which points have different columns, and some points are equal."""
    tree = document(
        sweep={"workload.servers": [2, 3, 16], "transport.name": ["newreno", "plato", "newreno"]},
        run={"seeds": 5},
    )
    return incast.run(tree, out=tmp_path / "out")


@pytest.mark.parametrize("size", [1, 10, 12, 1000])
def test_the_table_does_not_depend_on_portions(
    varied: Results, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = varied.summary()
    monkeypatch.setattr("incast.results._PORTION", size)
    monkeypatch.setattr("incast.results.archive._TOGETHER", 1)
    again = incast.open_results(tmp_path / "out")
    assert_frame_equal(again.summary(), whole)
    assert again.notes == varied.notes
    assert_frame_equal(again.frame(), varied.frame())


@pytest.mark.parametrize("group", ["all", None])
def test_portions_are_the_frame(
    varied: Results, group: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incast.results._PORTION", 12)
    portions = list(varied.portions(group))
    assert [len(portion) for portion in portions] == [10, 10, 10, 10, 5]
    frame = varied.frame(group)
    together = pl.concat(portions, how="diagonal_relaxed")
    assert_frame_equal(together.select(frame.columns), frame)


def test_portions_of_an_unknown_group_are_refused(varied: Results) -> None:
    with pytest.raises(ResultsError, match="there is no group 'nobody'; choose from all"):
        next(varied.portions("nobody"))


def test_no_more_rows_are_read_at_once_than_a_portion_has(
    varied: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    rows = varied.store.rows

    def counted(jobs: list[Job]) -> object:
        asked.append(len(jobs))
        return rows(jobs)

    monkeypatch.setattr("incast.results._PORTION", 12)
    monkeypatch.setattr(varied.store, "rows", counted)
    varied.summary()
    assert varied.notes == []
    assert asked == [10, 10, 10, 10, 5]  # the notes do not read the rows again
