"""Progress of a sweep on stderr, and only when a terminal shows it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from incast import units
from incast.sweep.progress import Progress


@contextmanager
def shown() -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar with an estimate of the time left; yield a function that updates it."""
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
