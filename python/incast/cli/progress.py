"""Progress of a sweep or a read on stderr, if stderr is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from incast import units
from incast.sweep.progress import Progress

if TYPE_CHECKING:
    from incast.client import Progress as Fetched


@contextmanager
def shown() -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar with an estimate of the time left; yield a function that updates the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[runs]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=1.0, runs="", left="")

        def report(state: Progress) -> None:
            left = (
                "" if state.remaining is None else f"about {units.duration(state.remaining)} left"
            )
            runs = f"{state.done} of {units.plural(state.total, 'run')}"
            bar.update(task, completed=state.share, runs=runs, left=left)

        yield report


@contextmanager
def fetching() -> "Iterator[Callable[[Fetched], None] | None]":
    """Show the number of pieces that have been read; yield a function that updates the number."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(), TextColumn("{task.fields[pieces]}"), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pieces="")

        def report(state: "Fetched") -> None:
            pieces = f"{state.done} of {units.plural(state.total, 'piece')}"
            bar.update(task, total=state.total, completed=state.done, pieces=pieces)

        yield report
