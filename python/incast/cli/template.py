"""`incast sweep template`: job files for clusters."""

from enum import StrEnum
from typing import Annotated

import typer

from incast.cli.options import Changes, Document, Seeds

sweep = typer.Typer(
    help="Run a sweep on a cluster: job files for Slurm, Kubernetes and Dask.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@sweep.callback()
def _group(context: typer.Context) -> None:
    """Print the help if there is no subcommand."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class Kind(StrEnum):
    """The system that runs the job file."""

    SLURM = "slurm"
    KUBERNETES = "kubernetes"
    DASK = "dask"


@sweep.command()
def template(
    kind: Annotated[Kind, typer.Argument(help="slurm, kubernetes or dask.", metavar="KIND")],
    scenario: Document,
    *,
    out: Annotated[
        str,
        typer.Option(
            help="The directory of the results, which all machines can reach, or an address such "
            "as s3://bucket/mine.",
            metavar="DIR",
        ),
    ],
    changes: Changes = None,
    seeds: Seeds = None,
    shards: Annotated[
        int | None,
        typer.Option(
            help="Number of parts; default: parts of about an hour each.", metavar="N", min=1
        ),
    ] = None,
    cpus: Annotated[
        int,
        typer.Option(
            help="Processors of each part, or workers of dask.", metavar="N", min=1, max=65535
        ),
    ] = 4,
    image: Annotated[
        str, typer.Option(help="Container image that has incast (kubernetes).", metavar="NAME")
    ] = "incast",
    claim: Annotated[
        str,
        typer.Option(
            help="Persistent volume claim that is mounted at DIR (kubernetes, unless DIR is an "
            "address).",
            metavar="NAME",
        ),
    ] = "incast-results",
) -> None:
    """Write a job file that runs a scenario in parts on a cluster, to standard output.

    Examples: incast sweep template slurm mine.toml --seeds 400 --out /scratch/mine > mine.sh;
    incast sweep template kubernetes mine.toml --out s3://bucket/mine --image registry/incast
    """
    from incast.cli.run import scenario_of
    from incast.results.remote import check_protocol
    from incast.sweep import template as made

    changes = changes or []
    for hint, text in (
        ("SCENARIO", str(scenario)),
        ("--out", out),
        ("--image", image),
        ("--claim", claim),
        *(("--set", it) for it in changes),
    ):
        if not text.isprintable():
            raise typer.BadParameter(f"{text!r} must have no control characters", param_hint=hint)
    check_protocol(out)
    asked = scenario_of(scenario, changes, seeds)
    options = [word for change in changes for word in ("--set", change)]
    options += ["--seeds", str(seeds)] if seeds is not None else []
    count = 1
    if kind is not Kind.DASK:
        count = shards if shards is not None else made.shards_for(asked, cpus)
        made.check(asked, count)
    task = made.Task(asked, scenario, options, out, count, cpus)
    if kind is Kind.SLURM:
        text = made.slurm(task)
    elif kind is Kind.KUBERNETES:
        text = made.kubernetes(task, image, claim)
    else:
        text = made.dask(task)
    typer.echo(text, nl=False)
