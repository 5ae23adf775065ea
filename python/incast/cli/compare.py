"""`incast compare`: compare two results seed by seed."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import complete
from incast.cli.place import directory
from incast.cli.status import Form

if TYPE_CHECKING:
    from collections.abc import Callable

    from incast.cli.console import Paper
    from incast.results.compare import Compared

_MOST_NAMED = 12  # maximum number of points that a sentence names


def compare(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="A directory made by run --out.", parser=directory)
    ],
    b: Annotated[
        Path,
        typer.Argument(
            metavar="B",
            help="Another directory made by run --out, which is compared with A.",
            parser=directory,
        ),
    ],
    *,
    columns: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Columns to compare, comma-separated, e.g. goodput,p99; incast explain columns "
            "lists them.",
            autocompletion=complete.columns,
        ),
    ] = "goodput",
    group: Annotated[
        str,
        typer.Option(
            help="The group whose rows are compared: 'all', which is the read, or the name of a "
            "group, e.g. background.0.cbr.",
            metavar="NAME",
        ),
    ] = "all",
    form: Annotated[
        Form, typer.Option("--format", help="table for people, json for programs.")
    ] = Form.TABLE,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns, even if the terminal is narrower.")
    ] = False,
) -> None:
    """Compare two results seed by seed, and say at which points B is better or worse than A.

    A difference counts if its 95 % interval does not contain 0.
    Example: incast compare results/newreno results/dctcp --columns goodput,p99
    """
    from incast.cli.console import Paper
    from incast.cli.output import resolved
    from incast.results import Results
    from incast.results.columns import known
    from incast.results.compare import compare as compared

    names = resolved(columns, known, "--columns")
    ours, theirs = Results.open(a), Results.open(b)
    found = {name: compared(ours, theirs, name, group) for name in names}
    if form is Form.JSON:
        rows = {name: [one.to_dict() for one in told] for name, told in found.items()}
        typer.echo(json.dumps({"a": str(a), "b": str(b), "columns": rows}, allow_nan=False))
        return
    paper = Paper(wide=wide)
    for name, told in found.items():
        paper.heading(f"{name}: {b} (B) compared with {a} (A)")
        _table(paper, name, told)
        for line in _sentences(told):
            paper.sentence(line)


def _table(paper: "Paper", name: str, found: "Sequence[Compared]") -> None:
    from incast import units
    from incast.grid import Column
    from incast.results.series import named

    unit, write = _written(name, found)
    rows = [named(dict(one.swept)) for one in found]
    keys = [Column(key, key.replace(".", ".\n", 1), [row[key] for row in rows]) for key in rows[0]]
    shares = [
        f"{100 * one.difference / abs(one.a):+.1f} %" if one.a else units.NONE for one in found
    ]
    ends = [
        units.NONE if one.low is None else f"{write(one.low)} to {write(one.high)}" for one in found
    ]
    shown = [
        Column("A", f"A\n{unit}".strip(), [write(one.a) for one in found], 2),
        Column("B", f"B\n{unit}".strip(), [write(one.b) for one in found], 3),
        Column("difference", f"B − A\n{unit}".strip(), [write(it.difference) for it in found], 1),
        Column("share", "B − A\nof A", shares, 5),
        Column("interval", f"95 % CI\n{unit}".strip(), ends, 4),
        Column("seeds", "seeds", [str(one.seeds) for one in found], 6),
        Column("B is", "B is", [str(one.finding) for one in found], 0),
    ]
    paper.table(keys, shown)


def _written(name: str, found: "Sequence[Compared]") -> tuple[str, "Callable[[float | None], str]"]:
    """Return the unit for the heading of a column, and a function that formats its values."""
    from incast import units

    if name.endswith("_bps"):
        return units.rates([value for one in found for value in (one.a, one.b)])
    if name.endswith("_s"):
        return "", lambda value: units.NONE if value is None else units.time(value, trim=False)
    return "", lambda value: units.NONE if value is None else _number(value)


def _number(value: float) -> str:
    from incast import units

    return f"{value:.0f}" if float(value).is_integer() else units.number(value, 3)


def _sentences(found: "Sequence[Compared]") -> list[str]:
    """Say at which points B is better than, worse than or equal to A, and which are undecided."""
    from incast import units
    from incast.results.compare import Finding
    from incast.results.series import label_of

    told = {
        Finding.BETTER: "B is better",
        Finding.WORSE: "B is worse",
        Finding.SAME: "B is the same, seed by seed,",
        Finding.UNKNOWN: "Cannot tell",
    }
    lines = []
    for finding, words in told.items():
        those = [one for one in found if one.finding is finding]
        if not those:
            continue
        names = [label_of(dict(one.swept)) for one in those[:_MOST_NAMED]]
        more = f" and {len(those) - _MOST_NAMED} more" if len(those) > _MOST_NAMED else ""
        few = units.plural(min(one.seeds for one in those), "seed")
        hint = f" (with {few}; --seeds runs more)" if finding is Finding.UNKNOWN else ""
        where = f" at {'; '.join(names)}{more}" if any(names) else ""
        lines.append(f"{words}{where}{hint}.")
    return lines
