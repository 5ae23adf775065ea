"""A table of results, for the terminal and for a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rich.table import Table


@dataclass
class Sheet:
    """A table with headings.

    Parameters
    ----------
    title
        Title of the table.
    headings
        Headings of the columns; the first column has names, the others have numbers.
    note
        Explanation of the table for its readers.
    missed
        A line for each missed bar.
    kept
        The numbers of the table that other texts need.
    """

    title: str
    headings: list[str]
    note: str = ""
    rows: list[list[str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)

    def add(self, *cells: str) -> None:
        """Add a row."""
        self.rows.append(list(cells))

    def table(self) -> Table:
        """Return the table for the terminal."""
        table = Table(title=self.title, title_justify="left", caption=self.note)
        for index, heading in enumerate(self.headings):
            table.add_column(heading, justify="right" if index else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """Return the table in Markdown."""
        lines = [
            "| " + " | ".join(self.headings) + " |",
            "|---|" + "--:|" * (len(self.headings) - 1),
            *("| " + " | ".join(row) + " |" for row in self.rows),
        ]
        missed = (
            ["", "Results that miss their bar: " + "; ".join(self.missed) + "."]
            if self.missed
            else []
        )
        if not self.rows:
            lines = []
        return "\n".join([f"## {self.title}", "", self.note, "", *lines, *missed, ""])
