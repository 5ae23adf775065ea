"""`incast diagnose`: whether a capture contains incast, and why flows waited."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast.diagnose.reading import FLOWS, Place

if TYPE_CHECKING:
    from incast.diagnose import Report


class Form(StrEnum):
    """How the report is written."""

    TABLE = "table"
    JSON = "json"
    HTML = "html"


def diagnose(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="pcap or pcapng, also compressed with gzip or zstd; - is standard input. Files "
            "that follow each other are read as one; files that overlap in time are read as "
            "captures from several places.",
        ),
    ],
    form: Annotated[
        Form, typer.Option("--format", help="table, json, or html: a page with pictures.")
    ] = Form.TABLE,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write json or html here instead of stdout."
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the read as a scenario (TOML) for incast run, with round trip, windows, "
            "timer and buffer as estimated from the capture.",
        ),
    ] = None,
    vantage: Annotated[
        Place | None,
        typer.Option(
            help="Where the capture was taken: client, server or switch. Default: inferred.",
            show_default=False,
        ),
    ] = None,
    flows: Annotated[
        int,
        typer.Option(
            min=FLOWS[0], max=FLOWS[-1], metavar="N", help="Minimum number of flows of an episode."
        ),
    ] = 3,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Say whether a capture contains incast, which flows waited, and why.

    Ctrl-C ends the reading; the report then covers the part that was read.

    Examples: incast diagnose client.pcapng; incast diagnose --format html -o report.html *.pcap.gz;
    tcpdump -w - -s 96 tcp | incast diagnose -;
    incast diagnose client.pcap --scenario read.toml
    """
    if output is not None and form is Form.TABLE:
        raise typer.BadParameter("needs --format json or html", param_hint="--output")
    _check_outputs([("--output", output), ("--scenario", scenario)], files, overwrite=overwrite)
    from incast.diagnose import reading
    from incast.diagnose import scenario as as_scenario

    found: list[Report] = []

    def until_found(*_: object) -> None:
        if not found:
            raise KeyboardInterrupt

    with _interrupted_by(until_found):  # Ctrl-C must not discard a finished report
        with _progress() as progress:
            found.append(reading.diagnose(files, vantage, flows, progress))
        [report] = found
        if form is Form.TABLE:
            _table(report)
        else:
            _write(_text(report, form, files), output)
        if scenario is not None:
            as_scenario.write(report, scenario)


@contextmanager
def _interrupted_by(handler: Callable[..., object] | signal.Handlers) -> Iterator[None]:
    """Replace the handler of Ctrl-C for a while; only the main thread can replace it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _check_outputs(
    outputs: list[tuple[str, Path | None]], captures: list[str], *, overwrite: bool
) -> None:
    """Refuse to write to captures, to one file twice, or to existing files."""
    taken = {os.path.realpath(name) for name in captures}
    for option, path in outputs:
        if path is None:
            continue
        if os.path.realpath(path) in taken:
            raise typer.BadParameter(f"{path} is already read or written", param_hint=option)
        if path.exists() and not overwrite:
            raise typer.BadParameter(f"{path} exists; add --overwrite", param_hint=option)
        taken.add(os.path.realpath(path))


def _text(report: "Report", form: Form, files: list[str]) -> str:
    if form is Form.HTML:
        from incast.diagnose import page, pictures

        if report["interrupted"]:
            return page.html(report, [])  # pictures would read the whole files again
        try:
            with _interrupted_by(signal.default_int_handler):
                drawn = pictures.of(report, files)
        except KeyboardInterrupt:
            drawn = []  # drawing reads all files again, so Ctrl-C skips the pictures
        return page.html(report, drawn)
    return json.dumps(report, indent=1) + "\n"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    from incast.errors import CaptureError

    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CaptureError(f"{output}: cannot be written: {error.strerror}") from None


def _table(report: "Report") -> None:
    from incast.cli.console import Paper
    from incast.diagnose import text

    paper = Paper()
    paper.heading(text.answer(report))
    for sentence in (*text.reasons(report), *text.about(report), *text.notes(report)):
        paper.sentence(sentence)
    for title, what, rows in (
        ("Episodes", "episodes", text.episodes(report)),
        ("Stalls by cause", "", text.causes(report)),
        ("Stalls", "stalls", text.stalls(report)),
    ):
        if len(rows) > 1:
            paper.print()
            paper.heading(title)
            paper.listing(rows)
            if what and (left := text.left_out(report, what)):
                paper.sentence(left)
    if report["look_alikes"]:
        paper.print()
        paper.heading("Look-alikes: other causes of the same symptoms")
        paper.listing(text.look_alikes(report))
    if told := text.cannot_tell(report):
        paper.print()
        for sentence in told:
            paper.sentence(sentence)


@contextmanager
def _progress() -> Iterator[Callable[[float | None, float | None], None] | None]:
    """Show a progress bar with the time left; yield a function that updates the bar."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from incast import units

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="")

        def report(share: float | None, remaining: float | None) -> None:
            if share is not None and remaining is not None:
                left = f"about {units.duration(remaining)} left"
                bar.update(task, total=1.0, completed=share, left=left)

        yield report
