"""Pictures of figures: small files with their data, and notes on their runs."""

from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from conftest import SMALL, Command
from incast.plots import style
from incast.reproduce import papers as texts

FIGURE = """\
title = "Goodput of a read that is given so many servers that some of its runs do not end in time"
kind = "sweep"
scenario = { run = { time_limit = "30ms" } }
[x]
key = "workload.servers"
values = [1, 64]
[[series]]
label = "slow timer"
set = { "transport.rto_min" = "200ms" }
[plot]
y = "goodput_mbps"
[[claims]]
id = "A"
says = "It ends with 64 servers."
kind = "trend"
left = { series = "slow timer", at = 64 }
op = ">"
right = 0
"""


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    place = tmp_path / "papers" / "text"
    place.mkdir(parents=True)
    scenario = "\n".join(
        line.replace("[", "[scenario.", 1) if line.startswith("[") else line
        for line in SMALL.splitlines()
        if not line.startswith(("title", "seeds"))
    )
    (place / "base.toml").write_text(f'title = "A text"\nseeds = 2\n{scenario}\n')
    (place / "1.toml").write_text(FIGURE)
    return place.parent


def test_pictures_are_left_with_their_numbers_and_runs_without_end_are_told(
    papers: Path, tmp_path: Path, command: Command
) -> None:
    out = tmp_path / "out"
    told = command("reproduce", "--papers", papers, "--out", out)
    assert told.code == 0
    assert "  2 runs did not finish and are not counted\n" in told.out
    assert "no run of slow timer at 64 has ended with a value" in told.out
    with Image.open(out / "pictures" / "text" / "1.png") as picture:
        assert picture.mode == "P"  # a palette
    numbers = pl.read_csv(out / "pictures" / "text" / "1.csv")
    assert numbers["x"].to_list() == [1]


@pytest.mark.parametrize(
    ("number", "place"),
    [
        ("3.3", "figure 3.3"),
        ("6a-tried", "figure 6a, tried"),
        ("6a-200ms", "figure 6a, 200ms"),
        ("3.13-3.16", "figures 3.13 to 3.16"),
        ("section-5.2", "section 5.2"),
        ("table1", "table 1"),
    ],
)
def test_a_figure_says_where_the_text_has_it(papers: Path, number: str, place: str) -> None:
    text = texts.load(papers)["text"]
    assert texts.Chosen(text, number, text.figures["1"]).place == place


def test_a_long_title_is_wrapped_and_the_panels_make_room() -> None:
    _, (short,) = style.sheet("A title", "facts")
    figure, (axes,) = style.sheet("A title of many words " * 5, "facts")
    title, facts = (text.get_text() for text in figure.texts)
    assert title.count("\n") == 1
    assert facts == "facts"
    figure.draw_without_rendering()
    width = figure.texts[0].get_window_extent().width
    assert width < figure.get_figwidth() * figure.dpi
    short.figure.draw_without_rendering()  # type: ignore[union-attr]
    assert axes.get_position().y1 < short.get_position().y1
