"""`incast advise`: what to change, how much it gains, the exact words, and the way back."""

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import options

if TYPE_CHECKING:
    from incast.advise import Advice


class Form(StrEnum):
    """How advice is written."""

    TABLE = "table"
    JSON = "json"


def advise(
    scenario: options.Document,
    *,
    changes: options.Changes = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Time after which the answer stands, e.g. 20s or 2min. More time gives narrower "
            "intervals.",
        ),
    ] = "20s",
    app: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The application whose settings are named: spark, ceph, hdfs, nfs or memcached.",
        ),
    ] = None,
    throttles: Annotated[
        list[str] | None,
        typer.Option(
            "--throttle",
            metavar="KEY=VALUE",
            help="A setting of the application as it is now, e.g. "
            "spark.reducer.maxReqsInFlight=64 (may be repeated).",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Number of parallel runs; default: all processors.", metavar="N", min=1),
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="table for people, json for programs.")
    ] = Form.TABLE,
    wide: options.Wide = False,
) -> None:
    """Say what to change in a scenario, what it gains, in which words, and how to go back.

    Every fix is simulated in your scenario, at the same seeds as without it. Advised is what
    gains goodput for certain, and slows no block and no other traffic down.
    Examples: incast advise storage-read; incast advise mine.toml --set workload.servers=48
    --budget 60s; incast advise mine.toml --format json
    """
    from incast.advise import advise as ask
    from incast.cli.console import Paper
    from incast.cli.run import scenario_of

    seconds = _seconds(budget)
    loaded = scenario_of(scenario, changes or [])
    with _Meanwhile(form is Form.TABLE) as meanwhile:
        advice = ask(
            loaded,
            budget=seconds,
            app=app,
            throttles=throttles or [],
            jobs=jobs,
            listener=meanwhile.show,
        )
    if form is Form.JSON:
        typer.echo(json.dumps(advice.to_dict(), allow_nan=False))
        return
    from incast.cli.advised import render

    render(advice, Paper(wide=wide))


def _seconds(text: str) -> float:
    """Read the budget.

    Raises
    ------
    typer.BadParameter
        It is not a time above 0.
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
    """On a terminal: the answer so far, which a better one replaces."""

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
