"""`incast advise`: what to change, how much it gains, the exact commands, and how to undo them."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import options
from incast.cli.mistakes import INTERRUPTED

if TYPE_CHECKING:
    from incast.advise import Advice
    from incast.scenario import Scenario


class Form(StrEnum):
    """How advice is written."""

    TABLE = "table"
    JSON = "json"
    HTML = "html"


def advise(
    scenario: options.OptionalDocument = None,
    *,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Read values from this file (may be repeated): the output of ss -tin, ip route or "
            "sysctl -a, a SONiC config_db.json, or a CSV file with time, flows, bytes.",
        ),
    ] = None,
    changes: options.Changes = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Time limit for the answer, e.g. 20s or 2min. More time gives narrower intervals.",
        ),
    ] = "20s",
    goal: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="GOAL",
            help="The goal: goodput, p99, p999, or an upper limit in quotes, e.g. 'p99<20ms'. "
            "Default: goodput and p99.",
        ),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The application whose settings the advice names: spark, ceph, hdfs, nfs, "
            "memcached, ray, minio or grpc.",
        ),
    ] = None,
    throttles: Annotated[
        list[str] | None,
        typer.Option(
            "--throttle",
            metavar="KEY=VALUE",
            help="A setting of the application, with its present value, e.g. "
            "spark.reducer.maxReqsInFlight=64 (may be repeated).",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of parallel runs; default: all processors.", metavar="N", min=1),
    ] = None,
    out: options.Out = None,
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="table for people, json for programs, html for a ticket; all go to stdout.",
        ),
    ] = Form.TABLE,
    wide: options.Wide = False,
) -> None:
    """Say what to change in a scenario: the gain, the exact commands, and how to undo them.

        Every fix is simulated in your scenario, with the same seeds as the scenario without a fix.
    A fix is advised if it significantly increases goodput or shortens the slowest blocks, and makes
    nothing else worse, including other traffic (see --for).
    In a sweep over servers, only the largest number is used; in any other sweep, each value gets an
    answer of its own.
    Examples: incast advise storage-read; incast advise mine.toml --set workload.servers=48
    --budget 60s; incast advise --from config_db.json --from ss.txt --set workload.sru=64KiB
    """
    from incast.advise import Interrupted
    from incast.advise import advise_each as ask
    from incast.cli.console import Paper

    seconds = _seconds(budget)
    loaded, notes = _scenario(scenario, files or [], changes or [])
    try:
        with _Meanwhile(form is Form.TABLE) as meanwhile:
            told = ask(
                loaded,
                budget=seconds,
                goal=goal,
                app=app,
                throttles=throttles or [],
                notes=notes,
                jobs=jobs,
                out=out,
                listener=meanwhile.show if meanwhile.live is not None else None,
            )
    except Interrupted as stopped:
        raise typer.Exit(_how_to_continue(stopped.finished, out)) from None
    if form is Form.JSON:
        every = [{"value": value, **advice.to_dict()} for value, advice in told]
        one = told[0][1].to_dict() if not told[0][0] else every
        typer.echo(json.dumps(one, allow_nan=False))
        return
    if form is Form.HTML:
        from incast.advise.page import page

        typer.echo(page(told), nl=False)
        return
    from incast.cli.advised import render

    paper = Paper(wide=wide)
    for number, (value, advice) in enumerate(told):
        if number:
            paper.print()
        if value:
            paper.heading(value)
        render(advice, paper)


def _scenario(
    file: Path | None, files: list[Path], changes: list[str]
) -> "tuple[Scenario, list[str]]":
    """Load the scenario, add the values from other files, and apply the overrides."""
    from incast.scenario import load
    from incast.scenario.override import parse

    notes: list[str] = []
    if file is None and not files:
        raise typer.BadParameter("give one, or --from FILE", param_hint="SCENARIO")
    scenario = load(file) if file is not None else None
    if files or scenario is None:
        from incast.advise.readers import SERVERS, scenario_of

        keys = {text.partition("=")[0].strip() for text in changes}
        scenario, notes = scenario_of(files, scenario, keys)
        if SERVERS not in keys and "servers" not in scenario.document.get("workload", {}):
            raise typer.BadParameter(
                f"no file says how many servers answer; add --set {SERVERS}=N",
                param_hint="--from",
            )
    for text in changes:
        scenario = scenario.override(*parse(text))
    return scenario, notes


def _how_to_continue(finished: int, out: Path | None) -> int:
    """Say whether the runs of an interrupted search are kept; return the exit code."""
    kept = (
        f"kept in {out}; run the same command again to continue"
        if out is not None
        else "lost; with --out DIR, the next search can use them"
    )
    typer.echo(f"incast: interrupted: {finished} finished runs are {kept}", err=True)
    return INTERRUPTED


def _seconds(text: str) -> float:
    """Read the budget.

    Raises
    ------
    typer.BadParameter
        The budget is not a time above 0.
    """
    from incast import units

    minutes = text.strip().removesuffix("min")
    try:
        if minutes != text.strip():
            seconds = 60 * units.quantity(minutes, "number")
        else:
            seconds = units.quantity(text, "time")
    except units.QuantityError as error:
        raise typer.BadParameter(str(error), param_hint="--budget") from None
    if seconds <= 0:
        raise typer.BadParameter(f"must be above 0, not {text}", param_hint="--budget")
    return seconds


class _Meanwhile:
    """Show the best answer so far on a terminal, and update it."""

    def __init__(self, wanted: bool) -> None:
        import sys

        self.live = None
        if wanted and sys.stdout.isatty():
            from rich.live import Live

            self.live = Live(transient=True, auto_refresh=False)

    def __enter__(self) -> "_Meanwhile":
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.live is not None:
            self.live.stop()

    def show(self, advice: "Advice") -> None:
        """Show an answer in a few lines."""
        if self.live is None:
            return
        from rich.text import Text

        from incast.cli.advised import brief

        self.live.update(Text("\n".join([*brief(advice), "…"])), refresh=True)
