"""The choice of columns for a width: the most important columns, none of them truncated."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from incast.grid import Column, drawn, fitting

TEXT = st.text(st.characters(codec="latin-1", categories=["L", "N"]), min_size=1, max_size=30)
ROWS = 3


@st.composite
def columns(draw: st.DrawFn, least: int, most: int) -> list[Column]:
    names = draw(st.lists(TEXT, min_size=least, max_size=most, unique=True))
    return [
        Column(name, draw(TEXT), [draw(TEXT) for _ in range(ROWS)], rank)
        for rank, name in enumerate(names)
    ]


@given(keys=columns(0, 3), others=columns(1, 8), width=st.integers(20, 200))
def test_what_stands_is_whole_and_matters_most(
    keys: list[Column], others: list[Column], width: int
) -> None:
    stand, left = fitting(keys, others, width)
    assert [column.name for column in stand[: len(keys)]] == [column.name for column in keys]
    shown = stand[len(keys) :]
    assert [*shown, *left] == others  # in the order of importance, and complete
    paper = Console(file=io.StringIO(), width=10_000)
    paper.print(drawn(stand))
    lines = paper.file.getvalue().splitlines()  # type: ignore[attr-defined]
    text = "\n".join(lines)
    for column in shown:
        assert all(cell in text for cell in [column.heading, *column.cells])
    narrowest = [min(column.width, 12) for column in keys]
    if sum(narrowest) + 2 * len(keys) + 2 <= width and (keys or shown[0].width + 2 <= width):
        assert max(map(cell_len, lines)) <= width


@given(keys=columns(0, 3), others=columns(1, 8))
def test_without_a_width_all_stand(keys: list[Column], others: list[Column]) -> None:
    assert fitting(keys, others, None) == ([*keys, *others], [])


def test_importance_is_not_the_order() -> None:
    late = Column("late", "late", ["1"], 0)
    early = Column("early", "early", ["1"], 1)
    assert fitting([], [early, late], None)[0] == [early, late]
    stand, left = fitting([], [early, late], 8)
    assert (stand, left) == ([late], [early])
