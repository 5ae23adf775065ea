"""`incast explore`: the explorer, a page that runs the engine in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.cli import complete

if TYPE_CHECKING:
    from incast.explore import Server

_MOST_PORT = 65535


def explore(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENARIO]",
            help="Open the page with this scenario: a file (TOML), or the name of a shipped one.",
            show_default=False,
            autocompletion=complete.scenarios,
        ),
    ] = None,
    *,
    port: Annotated[
        int,
        typer.Option(help="Port on this machine; 0 selects a free one.", min=0, max=_MOST_PORT),
    ] = 0,
    browser: Annotated[
        bool, typer.Option(help="Whether to open a browser, or only to print the address.")
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Copy the page into this new folder instead, for a web server.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """Explore a read with sliders in a browser; the engine runs in the page, offline.

    Examples: incast explore; incast explore storage-read; incast explore --port 8000 --no-browser
    """
    from incast.explore import Server, copy, fragment

    if out is not None:
        copy(out)
        typer.echo(f"The page is in {out}; any web server can serve it.")
        return
    opened = "" if scenario is None else fragment(scenario)
    with Server(port) as server:
        typer.echo(f"The explorer is at {server.address} until Ctrl-C.")
        if browser:
            import webbrowser

            webbrowser.open(server.address + opened)
        elif opened:
            typer.echo(f"With this scenario: {server.address}{opened}")
        _serve(server)


def _serve(server: "Server") -> None:
    """Serve until Ctrl-C, which is not an error."""
    try:
        server.serve()
    except KeyboardInterrupt:
        typer.echo("")
