"""`incast schema`: the JSON Schema of a scenario, for editors and generators."""

import json

import typer


def schema() -> None:
    """Print the JSON Schema of a scenario.

    Example: incast schema > scenario.schema.json
    """
    from incast.scenario.schema import schema as whole

    typer.echo(json.dumps(whole(), indent=2))
