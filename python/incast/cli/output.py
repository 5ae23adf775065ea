"""Results on stdout or beside the part files: for the eye, or for another program."""

import json
import sys
from io import BytesIO
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
        save(frame, form, out and out / f"rows.{form}")


def _table(results: "Results", groups: list[str]) -> None:
    from incast.cli.console import Paper
    from incast.results.table import render

    render(results, Paper(240), groups)


def save(frame: "pl.DataFrame", form: str, target: Path | None) -> None:
    """Write a table as csv or parquet to a file, or to stdout."""
    table = BytesIO()
    if form == "csv":
        frame.write_csv(table)
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
