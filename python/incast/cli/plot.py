"""`incast plot`: pictures from results that were kept."""

from pathlib import Path
from typing import Annotated

import typer

from incast.cli.complete import plots


def plot(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A directory made by run --out.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            help="What to draw; incast list plots says what there is.", autocompletion=plots
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
            help="Show only points with this swept value, e.g. workload.servers=8; a trace shows "
            "the one with the lowest goodput of these.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Choose the seed of a trace.")] = None,
    block: Annotated[
        int | None, typer.Option(help="Choose the block of a swimlane; default: the longest.")
    ] = None,
    group: Annotated[
        str,
        typer.Option(
            help="Whose rows are drawn: all for the read itself, or the group of a table of "
            "background traffic.",
            metavar="NAME",
        ),
    ] = "all",
    across: Annotated[
        str | None,
        typer.Option(
            help="Swept key along a heatmap; default: the servers, else the first number.",
            metavar="KEY",
        ),
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(help="Swept key up a heatmap; default: the first other.", metavar="KEY"),
    ] = None,
) -> None:
    """Draw a picture of results, its data beside it as CSV.

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
    target = output if output is not None else results / f"{chosen.name}.png"
    save.check(target)
    save.figure(chosen.draw(kept, moment), target)
    typer.echo(f"wrote {target} and {target.with_suffix('.csv')}")
