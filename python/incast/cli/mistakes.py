"""Every user error is one line on stderr and exit code 2, never a traceback."""

import os
import sys
from pathlib import Path

import typer

from incast import units
from incast._core import ScenarioError
from incast.errors import (
    AdviceError,
    CaptureError,
    ExploreError,
    FetchError,
    FigureError,
    LiveError,
    ModelError,
    ResultsError,
)

USER_ERROR = 2
_LONGEST = 1500  # maximum number of characters of a message

_MISTAKES = (
    ScenarioError,
    AdviceError,
    CaptureError,
    ExploreError,
    FetchError,
    FigureError,
    LiveError,
    ModelError,
    ResultsError,
)

INTERRUPTED = 130  # 128 + SIGINT, the exit code that shells report


def one_line(app: typer.Typer) -> int:
    """Run `app`; report a user error, if any; return the exit code."""
    _open_what_is_closed()
    try:
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except _MISTAKES as error:
        code = _report(str(error))
    except typer.TyperException as error:
        # Pydantic, which reads the values for typer, begins its messages with "Value error".
        code = _report(error.format_message().replace(": Value error, ", ": "))
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("incast: interrupted", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        code = _give_up_output()  # the reader has closed the pipe, as `head` does
    except SystemExit as stop:
        # If a pipe breaks while typer's `echo` writes to it, typer exits with code 1.
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        code = _give_up_output()
    except OSError as error:
        _give_up_output()
        code = _report(f"{error.filename or 'the output'}: {error.strerror or error}")
    return code


def _open_what_is_closed() -> None:
    """Replace output that the caller closed, e.g. with `>&-`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (for good)


def _give_up_output() -> int:
    """Discard the output that Python would flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _report(message: str) -> int:
    typer.echo(f"incast: {_short(units.plain(message))}", err=True)
    return USER_ERROR


def _short(message: str) -> str:
    """Leave out the middle of a long message; the error is at its start, the hint at its end."""
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST * 3 // 4]} … {message[-_LONGEST // 4 :]}"
