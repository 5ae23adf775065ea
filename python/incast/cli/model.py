"""`incast model`: what theory predicts for a scenario, without a simulation."""

from pathlib import Path
from typing import Annotated

import typer

from incast.cli import complete
from incast.cli.options import Changes, Document
from incast.cli.output import Format
from incast.cli.run import scenario_of


def model(
    scenario: Document,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Use only this model (may be repeated); incast list models lists them.",
            autocompletion=complete.models,
        ),
    ] = None,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="With --format csv or parquet, write model.csv or model.parquet in DIR.",
            metavar="DIR",
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="table, json, csv or parquet, on stdout without --out."),
    ] = Format.TABLE,
    columns: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Columns of the tables, as in incast run."),
    ] = "",
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns, as in incast run.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the goodput of every model that predicts it (png, pdf or svg), and write "
            "its data as CSV.",
        ),
    ] = None,
) -> None:
    """Predict the results from theory, without a simulation.

    Examples: incast model mine.toml; incast model mine.toml --model collapse --plot theory.png;
    incast model mine.toml --set workload.servers=[4,8,16] --format json
    """
    from incast.cli import output
    from incast.cli.theory import known, write
    from incast.models.theory import ask

    if out is not None and form in {Format.TABLE, Format.JSON}:
        raise typer.BadParameter("needs --format csv or parquet", param_hint="--out")
    output.check(form, out)
    layout = output.Layout.of(columns, form, known, wide=wide)
    plan = scenario_of(scenario, changes or []).plan
    if picture is None:
        write(ask(plan, names or []), form, out, layout)
        return
    from incast.plots import save, theory  # matplotlib takes longer than most models

    save.check(picture)
    said = ask(plan, names or [])
    drawn = theory.draw(said)
    write(said, form, out, layout)
    save.figure(drawn, picture)
