"""`incast list`: the names that scenarios and commands accept."""

from typing import Annotated, Any

import typer

from incast.cli.complete import kinds
from incast.cli.names import KINDS, entries


def list_entries(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]",
            help=f"One of {', '.join(KINDS)}.",
            show_default=False,
            autocompletion=kinds,
        ),
    ] = None,
) -> None:
    """List the names that a scenario can use.

    With KIND, list the names of that kind and their parameters.

    Examples: incast list; incast list queues
    """
    from incast.cli.console import Paper

    paper = Paper()
    if kind is None:
        for each in KINDS:
            names = ", ".join(str(entry["name"]) for entry in entries(each))
            paper.entry(f"{each:20} ", names)
        return
    if kind not in KINDS:
        raise typer.BadParameter(
            f"there is no list of {kind!r}; choose from {', '.join(KINDS)}", param_hint="KIND"
        )
    for entry in entries(kind):
        paper.entry(f"{entry['name']:20} ", entry["summary"])
        for name, about in entry["parameters"].items():
            paper.entry(f"{'':6}{name:18} ", _parameter(about))


def _parameter(schema: dict[str, Any]) -> str:
    """Write a parameter's JSON Schema in one line."""
    from incast.scenario.schema import default

    text = str(schema.get("description", ""))
    choices = [str(one["const"]) for one in schema.get("oneOf", ()) if "const" in one]
    if choices:
        text += f" One of {', '.join(choices)}."
    if schema.get("default") is not None and "Default:" not in text:
        text += f" Default: {default(schema)}."
    return text
