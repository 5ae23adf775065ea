"""Every mistake of the user is one line on stderr and exit code 2, never a traceback."""

import os
import sys

import typer

from incast._core import ScenarioError
from incast.errors import FigureError, ModelError, ResultsError

USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it


def one_line(app: typer.Typer) -> int:
    """Run `app`; return its exit code, having reported the user's mistake, if any."""
    try:
        return app(standalone_mode=False) or 0
    except (ScenarioError, FigureError, ModelError, ResultsError) as error:
        return _report(str(error))
    except typer.TyperException as error:
        return _report(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("incast: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has gone, as `head` does; leave nothing to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _report(message: str) -> int:
    typer.echo(f"incast: {' '.join(message.split())}", err=True)
    return USER_ERROR
