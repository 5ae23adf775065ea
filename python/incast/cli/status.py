"""`incast status`: which runs a results directory contains, and the time for missing runs."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import place

if TYPE_CHECKING:
    from incast.cli.console import Paper
    from incast.sweep.status import PointStatus, Status

_MOST_ROWS = 40  # maximum number of points in the table


class Form(StrEnum):
    """How the status is written."""

    TABLE = "table"
    JSON = "json"


def status(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A directory made by run --out.", parser=place.directory
        ),
    ],
    *,
    form: Annotated[
        Form, typer.Option("--format", help="table for people, json for programs.")
    ] = Form.TABLE,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of parallel runs for the estimate; default: all processors.",
            metavar="N",
            min=1,
        ),
    ] = None,
) -> None:
    """Show which runs a results directory contains, and how long the missing runs would take.

    You can use it while a sweep is running. Examples: incast status results/mine;
    incast status results/mine --jobs 256 --format json
    """
    from incast.sweep.status import status as state_of

    state = state_of(directory, jobs)
    if form is Form.JSON:
        typer.echo(json.dumps({"directory": str(directory), **state.to_dict()}))
    else:
        _print(state)


def _print(state: "Status") -> None:
    from incast import units
    from incast.cli.console import Paper

    paper = Paper()
    paper.heading(state.title or "Results")
    points, seeds = units.plural(len(state.points), "point"), units.plural(state.seeds, "seed")
    missing = state.runs - state.done
    asked, share = units.plural(state.runs, "run"), units.percent(state.done / state.runs)
    where, spent = units.plural(state.files, "file"), units.duration(state.spent_s)
    paper.sentence(
        f"done      {state.done} of {asked} ({share}): {points}, {seeds}; "
        f"in {where}, {spent} of processor time"
    )
    if not missing:
        paper.sentence("missing   nothing")
        return
    at_once = units.plural(min(state.workers, missing), "processor")
    left = units.duration(state.left_s)
    paper.sentence(f"missing   {units.plural(missing, 'run')}, about {left} on {at_once}")
    paper.sentence(f"state     {state.state}")
    _table([point for point in state.points if point.missing], paper)


def _table(points: "list[PointStatus]", paper: "Paper") -> None:
    """Print the points that are not finished."""
    from incast import units
    from incast.grid import Column
    from incast.results.series import written
    from incast.sweep.status import ranges

    shown = points[:_MOST_ROWS]
    keys = [
        Column(key, key.replace(".", ".\n", 1), [written(point.swept[key]) for point in shown])
        for key in shown[0].swept
    ]
    columns = [
        Column("done", "done", [str(point.done) for point in shown], 1),
        Column("missing", "missing", [str(len(point.missing)) for point in shown], 0),
        Column("seeds", "seeds", [_short(ranges(point.missing)) for point in shown], 4),
        Column(
            "run",
            "a run\ntakes",
            [("" if it.measured else "~") + units.time(it.run_s, trim=False) for it in shown],
            3,
        ),
        Column("left", "processor\ntime left", [units.duration(it.left_s) for it in shown], 2),
    ]
    paper.table(keys, columns)
    if len(points) > len(shown):
        more = units.plural(len(points) - len(shown), "more point")
        paper.sentence(f"… and {more}; --format json lists all.")
    if any(not point.measured for point in shown):
        paper.sentence(
            "~: estimated from the expected packets, because no run of the point has finished."
        )


def _short(text: str) -> str:
    """Cut off the end of a long list of ranges."""
    few = text.split(", ")[:3]
    return ", ".join(few) + (", …" if len(few) < text.count(",") + 1 else "")
