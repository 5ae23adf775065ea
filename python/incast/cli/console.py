"""Output for people: tables and sentences that fit the terminal."""

import os
import shutil
import sys
from collections.abc import Sequence
from typing import NoReturn

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape

from incast import units
from incast.grid import Column, drawn, fitting

_LEGIBLE = 24  # minimum width of a description beside its name, in columns
_STEP = 4  # indent of a description below its name, in columns
_ENDLESS = 100_000  # width of a pipe in columns: nothing is cut off


class Paper(Console):
    """Standard output, as wide as the terminal; a pipe has a width only if COLUMNS is set.

    Parameters
    ----------
    wide
        Print tables at their natural width, without regard to the terminal.
    """

    def __init__(self, *, wide: bool = False) -> None:
        # Without a height, rich assumes 80 columns if the terminal's type is "dumb".
        super().__init__(width=_ENDLESS, height=_ENDLESS, soft_wrap=False)
        bounded = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
        self.room = shutil.get_terminal_size().columns if bounded else None
        self.wide = wide

    @property
    def space(self) -> int | None:
        """The largest width of a table; None for no limit."""
        return None if self.wide else self.room

    def heading(self, text: str) -> None:
        """Print a line in bold."""
        for line in self.wrapped(text):
            self.print(f"[bold]{escape(line)}[/bold]", highlight=False, soft_wrap=True)

    def sentence(self, text: str, indent: str = "") -> None:
        """Print a sentence, wrapped at words; `indent` is put before each line after the first."""
        for line in self.wrapped(text, indent):
            self.print(escape(line), highlight=False, soft_wrap=True)

    def wrapped(self, text: str, indent: str = "") -> list[str]:
        """Wrap a sentence at words to fit the terminal; for a pipe, keep it on one line."""
        if self.room is None:
            return [text]
        return units.lines(text, self.room, indent) or [""]

    def table(
        self, keys: Sequence[Column], columns: Sequence[Column], title: str | None = None
    ) -> None:
        """Print the most important columns, as many as fit, and name the columns left out."""
        shown, left = fitting(keys, columns, self.space)
        self.print(drawn(shown, title))
        if left:
            names = ", ".join(column.name for column in left)
            self.sentence(f"Not shown at {self.room} columns: {names}; use --wide to show them.")

    def entry(self, before: str, text: str) -> None:
        """Print a name, `before`, and its description beside it or, on a narrow terminal, below."""
        indent = cell_len(before)
        if self.room is not None and self.room - indent < _LEGIBLE:
            margin = len(before) - len(before.lstrip()) + _STEP
            self.sentence(before.rstrip())
            before, indent = " " * margin, margin
        self.sentence(before + text, " " * indent)

    def listing(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows of text in columns; the last column wraps."""
        widths = [max(map(cell_len, column)) for column in list(zip(*rows, strict=True))[:-1]]
        for *words, text in rows:
            beside = (f"{word:{width}}  " for word, width in zip(words, widths, strict=True))
            self.entry("".join(beside), text)

    def on_broken_pipe(self) -> NoReturn:
        """Raise `BrokenPipeError`, which the command does not treat as a failure."""
        raise BrokenPipeError
