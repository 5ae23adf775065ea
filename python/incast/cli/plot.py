"""`incast plot`: pictures of stored results."""

from pathlib import Path
from typing import Annotated

import typer

from incast.cli.complete import plots
from incast.cli.place import directory


def plot(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="A directory made by run --out.", parser=directory),
    ],
    kind: Annotated[
        str,
        typer.Option(
            help="The kind of picture; incast list plots lists them.", autocompletion=plots
        ),
    ] = "goodput",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="png, pdf or svg; default: KIND.png in RESULTS.", metavar="FILE"
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Show only points with this swept value, e.g. workload.servers=8. Of several "
            "points, a trace shows the one with the lowest goodput.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of a trace.")] = None,
    block: Annotated[
        int | None, typer.Option(help="The block of a swimlane; default: the longest.")
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            help="The group whose rows are drawn: 'all', which is the read, or the name of a "
            "group, e.g. background.0.cbr.",
            metavar="NAME",
        ),
    ] = "all",
    across: Annotated[
        str | None,
        typer.Option(
            help="Horizontal key of a heatmap; default: the servers, or the first numeric key.",
            metavar="KEY",
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(
            help="Vertical key of a heatmap; default: the first other key.", metavar="KEY"
        ),
    ] = None,
) -> None:
    """Draw a picture of results, and write its data as CSV.

    Examples: incast plot results/mine --kind timeouts;
    incast plot results/mine --kind swimlane --where workload.servers=16;
    incast plot results/mine --kind completion --group mice
    """
    from incast.errors import ResultsError
    from incast.plots import Moment, find, save
    from incast.results import Results
    from incast.scenario.override import parse

    chosen = find(kind)
    values = dict(parse(text, "--where") for text in where or [])
    try:
        moment = Moment(values, seed, block, group, across, up)
        chosen.check(moment)
    except ResultsError as error:
        raise ResultsError(f"--{error}") from None
    kept = Results.open(results)
    if output is None and "://" in str(results):
        raise typer.BadParameter(
            "is needed because the results are not on this machine", param_hint="--output"
        )
    target = output if output is not None else results / f"{chosen.name}.png"
    save.check(target)
    save.figure(chosen.draw(kept, moment), target)
    typer.echo(f"wrote {target} and {target.with_suffix('.csv')}")
