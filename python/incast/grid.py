"""Tables that fit the terminal: a column is shown completely or left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_EDGES, _BETWEEN = 2, 2  # characters at the edges of the table, and between two columns
_ALONGSIDE = 3  # this many of the most important columns keep their width next to long keys
_NUMBERS = 4  # a column of words is folded so that the columns up to this rank fit
_NARROWEST = 12  # the minimum width of a column whose cells are folded


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name
        The name for users.
    heading
        The heading, in one or two lines.
    cells
        One string per row.
    rank
        Columns of a higher rank are less important, and are left out first.
    widest
        The maximum width of the column; longer cells are folded.
    """

    name: str
    heading: str
    cells: Sequence[str]
    rank: int = 0
    widest: int | None = None

    @cached_property
    def width(self) -> int:
        """The width of the column on the terminal."""
        from rich.cells import cell_len

        natural = max(map(cell_len, [*self.heading.split("\n"), *self.cells]))
        return natural if self.widest is None else min(natural, self.widest)


def fitting(
    keys: Sequence[Column], columns: Sequence[Column], width: int | None
) -> tuple[list[Column], list[Column]]:
    """Choose the columns of a table that fit into `width`.

    Parameters
    ----------
    keys
        Columns that identify the rows. They are always shown, and folded if they are too wide.
    columns
        The other columns, in the order in which they are shown.
    width
        The available width; None if it is not limited.

    Returns
    -------
    tuple
        The columns that are shown, keys first, and the columns that are left out.
    """
    if width is None:
        return [*keys, *columns], []
    by_rank = sorted(columns, key=lambda column: column.rank)
    room = width - _EDGES - sum(map(_taken, by_rank[:_ALONGSIDE]))
    keys = _folded(keys, room)
    left = width - _EDGES + _BETWEEN - sum(map(_taken, keys))
    stand: set[str] = set()
    for column in by_rank:
        # A less important column does not replace a more important one, even if it is narrower.
        if _taken(column) > left and (keys or stand):
            break
        left -= _taken(column)
        stand.add(column.name)
    shown = [column for column in columns if column.name in stand]
    return [*keys, *shown], [column for column in by_rank if column.name not in stand]


def narrowed(
    columns: Sequence[Column], name: str, keys: Sequence[Column], width: int | None
) -> list[Column]:
    """Fold the column `name` to the width that the columns of rank 0 to 4 leave.

    Parameters
    ----------
    columns, keys, width
        See `fitting`.
    name
        The name of the column that is folded.
    """
    if width is None:
        return list(columns)
    beside = [one for one in columns if one.name != name and one.rank <= _NUMBERS]
    room = width - _EDGES + _BETWEEN - sum(map(_taken, [*keys, *beside])) - _BETWEEN
    return [
        replace(one, widest=max(room, _NARROWEST)) if one.name == name and one.width > room else one
        for one in columns
    ]


def drawn(columns: Iterable[Column], title: str | None = None) -> "Table":
    """Draw columns side by side, with cells aligned to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), title=title, title_justify="left"
    )
    columns = list(columns)
    for column in columns:
        table.add_column(
            escape(column.heading),
            justify="right",
            overflow="fold",
            no_wrap=column.widest is None,
            width=column.width,
        )
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(escape, cells))
    return table


def _taken(column: Column) -> int:
    return column.width + _BETWEEN


def _folded(keys: Sequence[Column], room: int) -> list[Column]:
    """Narrow the widest keys until all keys fit, or until no key can become narrower."""
    keys = list(keys)
    while keys and sum(map(_taken, keys)) > room:
        index = max(range(len(keys)), key=lambda i: keys[i].width)
        if keys[index].width <= _NARROWEST:
            break
        too_much = sum(map(_taken, keys)) - room
        keys[index] = replace(keys[index], widest=max(keys[index].width - too_much, _NARROWEST))
    return keys
