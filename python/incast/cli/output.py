"""Results on stdout or next to the part files, for people or for programs."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Self

import typer

from incast.errors import ColumnError, ResultsError

if TYPE_CHECKING:
    import polars as pl

    from incast.models.theory import Theory
    from incast.results import Results
    from incast.scenario.plan import Plan


class Format(StrEnum):
    """How rows are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"


def check(form: Format, out: Path | None) -> None:
    """Refuse, before the run, a format in which the results could not be written."""
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise typer.BadParameter(
            "cannot write parquet to a terminal; redirect it, or give --out DIR",
            param_hint="--format",
        )


def groups_of(plan: "Plan", group: str, *, every: bool) -> list[str]:
    """Return the requested groups.

    Raises
    ------
    typer.BadParameter
        The plan has no such group. The message lists the groups of the plan.
    """
    known: dict[str, None] = {}
    for point in plan.points:
        known.update(dict.fromkeys(point.here.groups))
    if every:
        return list(known)
    if group not in known:
        there = ", ".join(known)
        raise typer.BadParameter(
            f"there is no group {group!r}; choose from {there}", param_hint="--group"
        )
    return [group]


@dataclass(frozen=True)
class Layout:
    """How a table is laid out.

    Parameters
    ----------
    names
        The requested columns; an empty list for the usual columns.
    wide
        Whether the table may be wider than the terminal.
    """

    names: list[str]
    wide: bool

    @classmethod
    def of(cls, columns: str, form: Format, known: Callable[[], list[str]], *, wide: bool) -> Self:
        """Read `--columns` and `--wide`, and refuse unknown columns before the run.

        Raises
        ------
        typer.BadParameter
            The format is not a table, or there is no such column.
        """
        for option, given in (("--columns", columns), ("--wide", wide)):
            if given and form != "table":
                raise typer.BadParameter("needs --format table", param_hint=option)
        return cls(resolved(columns, known, "--columns") if columns else [], wide)


def resolved(columns: str, known: Callable[[], list[str]], option: str) -> list[str]:
    """Return the full names of the columns in a comma-separated list."""
    from incast.results.columns import resolve

    try:
        return [resolve(name.strip(), known()) for name in columns.split(",") if name.strip()]
    except ColumnError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def write(
    results: "Results", form: Format, out: Path | None, groups: list[str], layout: Layout
) -> None:
    """Write the rows of some groups in the requested format."""
    if form == "table":
        from incast.cli.console import Paper
        from incast.cli.table import render

        render(results, Paper(wide=layout.wide), groups, layout.names)
        return
    from incast.results.frames import WALL

    # Leave out wall-clock times, which differ between two runs of the same seeds.
    frame = results.frame(None).drop(WALL)
    frame = frame.filter(frame["group"].is_in(groups))
    if form == "json":
        tree = {"scenario": results.scenario, "rows": frame.to_dicts()}
        typer.echo(json.dumps(tree, allow_nan=False))
    else:
        save(frame, form, out and out / f"rows.{form}")
    if results.plan.precision is not None:
        for note in results.notes:
            typer.echo(f"incast: {note}", err=True)


def compare(theory: "Theory", results: "Results", form: Format, layout: Layout) -> None:
    """Print the points where models and runs differ: under a table, or else on stderr."""
    lines = theory.beside(results.summary())
    # Only a model that states its accuracy can be said to differ from runs.
    why = theory.refusals.get("collapse")
    if why is not None:
        lines.append(f"collapse does not apply: {why}")
    if form == "table":
        from incast.cli.console import Paper

        paper = Paper(wide=layout.wide)
        for line in lines:
            paper.sentence(line, "  ")
        return
    for line in lines:
        typer.echo(f"incast: {line}", err=True)


def beside(
    results: "Results", real: "Results", theory: "Theory | None", form: Format, layout: Layout
) -> None:
    """Print a table of the goodput of simulation, real hosts and models, and notes on stderr."""
    from incast.live.beside import table
    from incast.live.report import notes

    if form == "table":
        from incast.cli.console import Paper

        paper = Paper(wide=layout.wide)
        paper.print()
        paper.heading("simulation and real hosts")
        paper.table(*table(results, real, theory))
    for note in notes(real):
        typer.echo(f"incast: {note}", err=True)


def save(frame: "pl.DataFrame", form: str, target: Path | None) -> None:
    """Write a table as csv or parquet to a file, or to stdout."""
    from incast.results.frames import harmless

    table = BytesIO()
    if form == "csv":
        harmless(frame).write_csv(table)
    else:
        frame.write_parquet(table)
    if target is None:
        sys.stdout.buffer.write(table.getbuffer())
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(table.getbuffer())
    except OSError as error:
        raise ResultsError(f"{target}: cannot be written: {error.strerror}") from None
    typer.echo(f"incast: wrote {target}", err=True)
