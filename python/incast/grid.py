"""Tables that fit the terminal: a column is shown completely or left out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

_EDGES, _BETWEEN = 2, 2  # what the box adds around columns and between two
_ALONGSIDE = 3  # this many columns keep their width next to long keys
_NUMBERS = 4  # up to this rank, words beside numbers fold
_NARROWEST = 12  # to which a key's column may shrink, folding its cells


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name
        Its name for users.
    heading
        Its heading, in one or two lines.
    cells
        One text per row.
    rank
        Its importance: columns of a higher rank are left out first.
    widest
        Its maximum width; longer cells are folded.
    """

    name: str
    heading: str
    cells: Sequence[str]
    rank: int = 0
    widest: int | None = None

    @cached_property
    def width(self) -> int:
        """Its width on the terminal."""
        natural = max(map(cell_len, [*self.heading.split("\n"), *self.cells]))
        return natural if self.widest is None else min(natural, self.widest)


def fitting(
    keys: Sequence[Column], columns: Sequence[Column], width: int | None
) -> tuple[list[Column], list[Column]]:
    """Choose the columns of a table of `width`.

    Parameters
    ----------
    keys
        Columns that identify the rows: always shown, folded if they are too wide.
    columns
        The others, in the order in which they are shown.
    width
        The available width; None for any.

    Returns
    -------
    tuple
        The shown columns, keys first, and those that are left out.
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
    """Fold the column called `name`, as far as that gives the numbers of rank 1 to 4 their room.

    Parameters
    ----------
    columns, keys, width
        As of `fitting`.
    name
        The column of words.
    """
    if width is None:
        return list(columns)
    beside = [one for one in columns if one.name != name and one.rank <= _NUMBERS]
    room = width - _EDGES + _BETWEEN - sum(map(_taken, [*keys, *beside])) - _BETWEEN
    return [
        replace(one, widest=max(room, _NARROWEST)) if one.name == name and one.width > room else one
        for one in columns
    ]


def drawn(columns: Iterable[Column], title: str | None = None) -> Table:
    """Draw columns side by side, cells aligned to the right."""
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
    """Narrow the widest keys until all fit, or none can be narrower."""
    keys = list(keys)
    while keys and sum(map(_taken, keys)) > room:
        index = max(range(len(keys)), key=lambda i: keys[i].width)
        if keys[index].width <= _NARROWEST:
            break
        too_much = sum(map(_taken, keys)) - room
        keys[index] = replace(keys[index], widest=max(keys[index].width - too_much, _NARROWEST))
    return keys
