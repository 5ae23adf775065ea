"""`incast schema`: the JSON Schema of a scenario, for editors and generators."""

import json

import typer

from incast import _core


def schema() -> None:
    """Print the JSON Schema of a scenario.

    Example: incast schema > scenario.schema.json
    """
    typer.echo(json.dumps(json.loads(_core.schema()), indent=2))
