"""The gallery in the documentation: whole, of today's claims, and with a word on each failure."""

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incast.reproduce import papers as texts
from incast.reproduce.judge import Verdict

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "docs" / "gallery"
REAL = texts.load(ROOT / "papers")
KEPT: dict[str, Any] = json.loads((GALLERY / "claims.json").read_text())
MOST_BYTES = 5_000_000


def test_the_gallery_is_of_a_full_run_of_the_figures_there_are() -> None:
    assert KEPT["quick"] is False
    figures = [f"{one['text']}/{one['figure']}" for one in KEPT["figures"]]
    assert sorted(figures) == sorted(one.name for one in texts.select(REAL, []))
    kept = {(one["text"], one["id"]): (one["figure"], one["says"]) for one in KEPT["claims"]}
    asked = {
        (one.paper.name, claim.id): (one.number, claim.says)
        for one in texts.select(REAL, [])
        for claim in one.figure.claims
    }
    assert kept == asked  # make it anew: benches/keep_gallery.py


def test_every_picture_has_its_numbers_and_all_are_small() -> None:
    for one in KEPT["figures"]:
        file = GALLERY / one["text"] / f"{one['figure']}.png"
        assert file.is_file() == one["picture"], file
        if one["picture"]:
            assert pl.read_csv(file.with_suffix(".csv")).height > 0
    files = [file for file in GALLERY.rglob("*") if file.is_file()]
    assert len(files) < 2 * len(KEPT["figures"]) + 10
    assert sum(file.stat().st_size for file in files) < MOST_BYTES


@pytest.mark.parametrize("text", sorted(REAL))
def test_every_claim_that_does_not_hold_has_an_entry(text: str) -> None:
    page = (ROOT / "docs" / "validation" / f"claims-{text}.md").read_text()
    failing = [
        one["id"]
        for one in KEPT["claims"]
        if one["text"] == text and one["verdict"] in {Verdict.FAILS, Verdict.TWICE}
    ]
    assert [name for name in failing if not re.search(rf"\b{re.escape(name)}\b", page)] == []


def test_every_text_has_its_pages() -> None:
    index = (ROOT / "docs" / "validation" / "claims.md").read_text()
    for text in REAL:
        assert f"(claims-{text}.md)" in index
        assert f"<!-- from code: gallery {text} -->" in (GALLERY / f"{text}.md").read_text()
