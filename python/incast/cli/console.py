"""The console that tables are printed on."""

import sys
from typing import NoReturn

from rich.console import Console


class Paper(Console):
    """Standard output for tables, which a pipe gives their natural width.

    Parameters
    ----------
    width
        Columns of a pipe, which has no width of its own.
    """

    def __init__(self, width: int) -> None:
        super().__init__(width=None if sys.stdout.isatty() else width, soft_wrap=False)

    def on_broken_pipe(self) -> NoReturn:
        """Leave a reader that has gone to the command, which does not call it a failure."""
        raise BrokenPipeError
