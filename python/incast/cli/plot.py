"""`incast plot`: pictures from results that were kept."""

from pathlib import Path
from typing import Annotated

import typer


def plot(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A directory made by run --out.")
    ],
    kind: Annotated[
        str, typer.Option(help="What to draw; incast list plots says what there is.")
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
            help="Choose the point of a trace, e.g. workload.servers=8; default: the one with "
            "the lowest goodput.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Choose the seed of a trace.")] = None,
    block: Annotated[
        int | None, typer.Option(help="Choose the block of a swimlane; default: the longest.")
    ] = None,
) -> None:
    """Draw a picture of results, its data beside it as CSV.

    Examples: incast plot results/mine --kind timeouts;
    incast plot results/mine --kind swimlane --where workload.servers=16
    """
    from incast.plots import Moment, find, save
    from incast.results import open_results
    from incast.scenario.override import parse

    chosen = find(kind)
    asked = {"--where": where, "--seed": seed, "--block": block}
    for option, value in asked.items():
        if value not in (None, []) and not chosen.traces:
            raise typer.BadParameter(
                f"chooses among traces, and {chosen.name} shows all runs; leave it out",
                param_hint=option,
            )
    kept = open_results(results)
    target = output if output is not None else results / f"{chosen.name}.png"
    save.check(target)
    moment = Moment(dict(parse(text, "--where") for text in where or []), seed, block)
    save.figure(chosen.draw(kept, moment), target)
    typer.echo(f"wrote {target} and {target.with_suffix('.csv')}")
