"""Results on stdout or beside the part files: for the eye, or for another program."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from incast.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl

    from incast.cli.run import Format
    from incast.results import Results
    from incast.scenario.plan import Plan


def check(form: "Format", out: Path | None) -> None:
    """Refuse before the run what could not be written after it."""
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise typer.BadParameter(
            "parquet is not for terminals: redirect it or give --out DIR", param_hint="--format"
        )


def groups_of(plan: "Plan", group: str, *, every: bool) -> list[str]:
    """Return which groups are asked for, before the run.

    Raises
    ------
    typer.BadParameter
        The plan has no such group; those that it has are in the message.
    """
    from incast.scenario.resolved import Resolved

    known: dict[str, None] = {}
    for point in plan.points:
        known.update(dict.fromkeys(Resolved(point.resolved).groups))
    if every:
        return list(known)
    if group not in known:
        there = ", ".join(known)
        raise typer.BadParameter(
            f"there is no group {group!r}; choose from {there}", param_hint="--group"
        )
    return [group]


def write(results: "Results", form: "Format", out: Path | None, groups: list[str]) -> None:
    """Write the rows of some groups in the form asked for."""
    if form == "table":
        _table(results, groups)
        return
    frame = results.frame(None)
    frame = frame.filter(frame["group"].is_in(groups))
    if form == "json":
        tree = {"scenario": results.scenario, "rows": frame.to_dicts()}
        typer.echo(json.dumps(tree, allow_nan=False))
    else:
        _file(frame, form, out)


def _table(results: "Results", groups: list[str]) -> None:
    from rich.console import Console

    from incast.results.table import render

    # A pipe has no width: give the table its natural one.
    console = Console(width=None if sys.stdout.isatty() else 240, soft_wrap=False)
    render(results, console, groups)


def _file(frame: "pl.DataFrame", form: "Format", out: Path | None) -> None:
    target = out / f"rows.{form}" if out is not None else sys.stdout.buffer
    try:
        if form == "csv":
            frame.write_csv(target)
        else:
            frame.write_parquet(target)
    except OSError as error:
        raise ResultsError(f"{target}: cannot be written: {error}") from None
    if out is not None:
        typer.echo(f"incast: wrote {target}", err=True)
