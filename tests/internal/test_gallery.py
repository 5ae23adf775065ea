"""The gallery in the documentation: complete, up to date, and with a reason for each failure."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incast.reproduce import papers as texts
from incast.reproduce.judge import Verdict
from incast.reproduce.tally import Class, outcomes

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
REAL = texts.load(ROOT / "papers")
KEPT: dict[str, Any] = json.loads((GALLERY / "claims.json").read_text())
MOST_BYTES = 5_000_000
NOISY: dict[str, Any] = json.loads((GALLERY / "noise.json").read_text())
MOST_OPEN = 5


@pytest.mark.parametrize(
    ("run", "changes"), [(KEPT, {}), (NOISY, {"network.clock_noise": "1us"})], ids=["kept", "noisy"]
)
def test_the_gallery_is_of_two_full_runs_of_all_figures(
    run: dict[str, Any], changes: dict[str, str]
) -> None:
    assert run["quick"] is False
    assert run["set"] == changes
    figures = [f"{one['text']}/{one['figure']}" for one in run["figures"]]
    assert sorted(figures) == sorted(one.name for one in texts.select(REAL, []))
    kept = {(one["text"], one["id"]): (one["figure"], one["says"]) for one in run["claims"]}
    asked = {
        (one.paper.name, claim.id): (one.number, claim.says)
        for one in texts.select(REAL, [])
        for claim in one.figure.claims
    }
    assert kept == asked  # if not, make the gallery again with docs/keep_gallery.py


def test_every_picture_has_its_numbers_and_all_are_small() -> None:
    for one in KEPT["figures"]:
        file = GALLERY / one["text"] / f"{one['figure']}.png"
        assert file.is_file() == one["picture"], file
        if one["picture"]:
            assert pl.read_csv(file.with_suffix(".csv")).height > 0
    files = [file for file in GALLERY.rglob("*") if file.is_file()]
    assert len(files) < 2 * len(KEPT["figures"]) + 10
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


def verdicts(run: dict[str, Any], text: str) -> dict[str, Verdict]:
    return {one["id"]: Verdict(one["verdict"]) for one in run["claims"] if one["text"] == text}


OUTCOMES = {
    text: list(outcomes(paper, verdicts(KEPT, text), verdicts(NOISY, text)))
    for text, paper in REAL.items()
}


def test_every_claim_there_was_ends_in_one_class() -> None:
    """The 297 claims of the first full run are in first-claims.csv."""
    first = pl.read_csv(ROOT / "validation" / "reference" / "figures" / "first-claims.csv")
    assert first.height == 297
    for text, found in OUTCOMES.items():
        names = [one.id for one in found]
        assert len(set(names)) == len(names)
        assert set(first.filter(pl.col("text") == text)["id"]) <= set(names)


def test_at_most_five_claims_are_open_and_every_failure_has_an_argument() -> None:
    every = [one for found in OUTCOMES.values() for one in found]
    assert sum(one.found is Class.OPEN for one in every) <= MOST_OPEN
    plain = {Class.HOLDS, Class.ARITHMETIC}
    assert [one.id for one in every if one.found not in plain and not one.why] == []


@pytest.mark.parametrize("text", sorted(REAL))
def test_the_ledger_speaks_of_no_claim_that_holds(text: str) -> None:
    held = {one.id for one in OUTCOMES[text] if one.found in {Class.HOLDS, Class.ARITHMETIC}}
    assert held & REAL[text].ledger.failures.keys() == set()


@pytest.mark.parametrize("text", sorted(REAL))
def test_every_text_has_headlines_with_a_verdict(text: str) -> None:
    headlines = REAL[text].scorecard.headlines
    assert headlines
    assert [one.headline for one in headlines if not (one.verdict and one.claims)] == []


@pytest.mark.parametrize("text", sorted(REAL))
def test_no_headline_rests_on_ties_alone(text: str) -> None:
    tied = {one.id for one in OUTCOMES[text] if one.found is Class.TIES}
    headlines = REAL[text].scorecard.headlines
    assert [one.headline for one in headlines if tied.issuperset(one.claims)] == []


def test_every_text_has_its_pages() -> None:
    index = (ROOT / "docs" / "validation" / "claims.md").read_text()
    for text in REAL:
        assert f"(claims-{text}.md)" in index
        page = (ROOT / "docs" / "validation" / f"claims-{text}.md").read_text()
        assert f"<!-- from code: outcomes {text} -->" in page
        assert f"<!-- from code: gallery {text} -->" in (GALLERY / f"{text}.md").read_text()
