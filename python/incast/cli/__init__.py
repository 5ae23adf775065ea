"""The `incast` command. Each subcommand has its own file."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from incast.cli.advise import advise
from incast.cli.compare import compare
from incast.cli.describe import describe
from incast.cli.diagnose import diagnose
from incast.cli.explain import explain
from incast.cli.explore import explore
from incast.cli.fetch import fetch
from incast.cli.list import list_entries
from incast.cli.live import live
from incast.cli.merge import merge
from incast.cli.mistakes import one_line
from incast.cli.model import model
from incast.cli.plot import plot
from incast.cli.reproduce import reproduce
from incast.cli.run import run
from incast.cli.schema import schema
from incast.cli.status import status
from incast.cli.template import sweep


class _Commands(TyperGroup):
    """The subcommands. They report Ctrl-C; typer alone would end without a message."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Read the command line."""
        with _told():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (of typer's private copy of click)
        """Run a subcommand."""
        with _told():
            return super().invoke(ctx)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Abort from None


app = typer.Typer(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find where a synchronised read collapses, why, and what helps.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is printed in half the time
)
app.command()(run)
app.command()(live)
app.command()(diagnose)
app.command()(status)
app.command()(merge)
app.command()(compare)
app.add_typer(sweep, name="sweep")
app.command()(model)
app.command()(plot)
app.command("list")(list_entries)
app.command()(schema)
app.command()(explain)
app.command()(explore)
app.command()(describe)
app.command()(reproduce)
app.command()(fetch)
app.command()(advise)


def _version(wanted: bool) -> None:
    if wanted:
        import incast

        typer.echo(f"incast {incast.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line and leave with its exit code."""
    code = one_line(app)
    if any(thread.daemon and thread.name.startswith("incast_") for thread in threading.enumerate()):
        # A cancelled run may still be running, and would crash while the interpreter shuts down.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
