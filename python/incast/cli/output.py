"""Results on stdout or beside the part files: for the eye, or for another program."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from incast.errors import ResultsError

if TYPE_CHECKING:
    from incast.cli.run import Format
    from incast.results import Results


def check(form: "Format", out: Path | None) -> None:
    """Refuse before the run what could not be written after it."""
    if form == "parquet" and out is None and sys.stdout.isatty():
        raise typer.BadParameter(
            "parquet is not for terminals: redirect it or give --out DIR", param_hint="--format"
        )


def write(results: "Results", form: "Format", out: Path | None) -> None:
    """Write the rows of the total in the form asked for."""
    if form == "table":
        _table(results)
    elif form == "json":
        tree = {"scenario": results.scenario, "rows": results.frame().to_dicts()}
        typer.echo(json.dumps(tree, allow_nan=False))
    else:
        _file(results, form, out)


def _table(results: "Results") -> None:
    from rich.console import Console

    from incast.results.table import render

    # A pipe has no width: give the table its natural one.
    render(results, Console(width=None if sys.stdout.isatty() else 240, soft_wrap=False))


def _file(results: "Results", form: "Format", out: Path | None) -> None:
    target = out / f"rows.{form}" if out is not None else sys.stdout.buffer
    frame = results.frame()
    try:
        if form == "csv":
            frame.write_csv(target)
        else:
            frame.write_parquet(target)
    except OSError as error:
        raise ResultsError(f"{target}: cannot be written: {error}") from None
    if out is not None:
        typer.echo(f"incast: wrote {target}", err=True)
