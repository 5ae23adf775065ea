"""`incast fetch`: read from real servers without incast."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incast import units
from incast.cli.fetched import Form, write
from incast.errors import FetchError

if TYPE_CHECKING:
    import asyncio

    from incast.client import Governor, HttpPiece, Learner, Plan, Progress, Summary
    from incast.client.piece import Target

NO_WINDOW = "none"


def fetch(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help="Addresses, http://… or https://…")
    ],
    *,
    slots: Annotated[
        int | None,
        typer.Option(
            "--slots",
            "-k",
            min=1,
            metavar="K",
            help="Maximum number of answers in flight. Default: 4.",
            show_default=False,
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Receive window of each answer, e.g. 8KiB, or none. Default: 5792B, four full "
            "packets; with --budget, an equal share of the budget.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Upper limit of the sum of the windows, e.g. the buffer of the switch's port.",
            show_default=False,
        ),
    ] = None,
    auto: Annotated[
        bool,
        typer.Option(
            "--auto", help="Start with the defaults; learn slots and windows, up to --budget."
        ),
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(
            "--range",
            metavar="FIRST-LAST",
            help="Bytes to read of each object, e.g. 0-65535, or 65536- for the rest.",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Time limit of each attempt, e.g. 500ms.")
    ] = "60s",
    total: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Time limit of the whole read, e.g. 10s.", show_default=False
        ),
    ] = None,
    most: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Largest answer that is accepted. Default: the length that the answer states, or "
            "1 GiB if it states none.",
            show_default=False,
        ),
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, metavar="N", help="Retries of an object that failed.")
    ] = 2,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for the objects. Without it, objects are read but not stored.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
    form: Annotated[
        Form, typer.Option("--format", help="table for people, json and csv for programs.")
    ] = Form.TABLE,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns, even if the terminal is narrower.")
    ] = False,
) -> None:
    """Read objects from many servers, few at a time, with small windows.

    The switch drops nothing as long as the windows fit into its buffer. If an object cannot be
    read, the others are still read, and the exit code is 2. Ctrl-C and SIGTERM end the read;
    complete objects and the summary remain. Needs pip install 'incast[client]'.
    Examples: incast fetch http://10.0.1.{1..16}/piece; incast fetch -k 8 --budget 64KiB --out here
    http://10.0.1.{1..16}/piece; incast fetch --auto --range 0-65535 --format json http://node/data
    """
    plan = _auto(slots, window, budget) if auto else _plan(slots, window, budget)
    limits = _Limits(
        _quantity(timeout, "time", "--timeout"),
        None if total is None else _quantity(total, "time", "--total"),
        None if most is None else _size(most, "--most"),
        retries,
    )
    pieces = _pieces(urls, *_bounds(part))
    target = _target(pieces, out, overwrite=overwrite)
    summary, governor, ended_by = _run(pieces, plan, limits, target)
    write(summary, governor.plan, form, wide=wide)
    if governor.note is not None:
        typer.echo(f"incast: {governor.note}", err=True)
    if ended_by is not None:
        good = len(pieces) - len(summary.failed)
        typer.echo(f"incast: interrupted; {good} of {len(pieces)} pieces were read", err=True)
        raise typer.Exit(128 + ended_by)
    if failed := summary.failed:
        more = f"; {len(failed)} of {len(pieces)} failed" if len(failed) > 1 else ""
        raise FetchError(f"{failed[0].name}: {failed[0].error}{more}")


@dataclass(frozen=True)
class _Limits:
    """Limits: the seconds of an attempt and of the read, the bytes of an answer, the retries."""

    attempt: float
    total: float | None
    most: int | None
    retries: int


def _run(
    pieces: "list[HttpPiece]", plan: "Plan | Learner", limits: _Limits, target: "Target"
) -> "tuple[Summary, Governor, int | None]":
    """Read the pieces; also return the number of the signal that ended the read, if any."""
    import asyncio

    from incast.cli.progress import fetching
    from incast.client import Governor, HttpReader, read

    governor = Governor(plan)
    seen: list[int] = []

    async def run(report: "Callable[[Progress], None] | None") -> "Summary":
        reader = HttpReader(governor, connect_timeout=limits.attempt, most=limits.most)
        with _until_signal(seen) as stop:
            async with reader:
                return await read(
                    pieces,
                    reader,
                    governor,
                    timeout=limits.attempt,
                    retries=limits.retries,
                    target=target,
                    progress=report,
                    total=limits.total,
                    stop=stop,
                )

    with fetching() as report:
        summary = asyncio.run(run(report))
    return summary, governor, seen[0] if seen else None


@contextmanager
def _until_signal(seen: list[int]) -> "Iterator[asyncio.Event]":
    """Set an event at Ctrl-C or SIGTERM; a second signal has its default effect."""
    import asyncio
    import signal

    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def end(number: int) -> None:
        seen.append(number)
        stop.set()
        release()

    def release() -> None:
        for number in numbers:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        # Only the main thread can set handlers, and some systems cannot set them at all.
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, end, int(number))
    try:
        yield stop
    finally:
        release()


def _plan(slots: int | None, window: str | None, budget: str | None) -> "Plan":
    from incast.client import SLOTS, WINDOW, Plan, PlanError

    k = SLOTS if slots is None else slots
    most = None if budget is None else _size(budget, "--budget")
    if window is None:
        size: int | None = WINDOW if most is None else most // k
    else:
        size = None if window == NO_WINDOW else _size(window, "--window")
    try:
        return Plan.fixed(k, size, most)
    except PlanError as error:
        hint = "--budget" if budget is not None else "--window"
        raise typer.BadParameter(str(error), param_hint=hint) from None


def _auto(slots: int | None, window: str | None, budget: str | None) -> "Learner":
    from incast.client import Learner

    if slots is not None:
        raise typer.BadParameter(
            "cannot be combined with --auto, which learns the slots", param_hint="--slots"
        )
    if window not in {None, NO_WINDOW}:
        raise typer.BadParameter(
            "cannot be combined with --auto, which learns the windows; only none is accepted",
            param_hint="--window",
        )
    most = None if budget is None else _size(budget, "--budget")
    return Learner(most, windows=window is None)


def _pieces(urls: list[str], start: int, stop: int | None) -> "list[HttpPiece]":
    from urllib.parse import urlsplit

    from incast.client import said

    for url in urls:
        try:
            parts = urlsplit(url)
            known = parts.scheme in {"http", "https"} and bool(parts.hostname)
            known = known and parts.port != 0
            (parts.hostname or "").encode("idna")  # UnicodeError: not a name of a host
        except ValueError:
            known = False
        if not known:
            raise typer.BadParameter(
                f"{said.reason(url)} is not an address; must be http://… or https://…",
                param_hint="URL",
            )
    try:
        from incast.client import HttpPiece
    except ModuleNotFoundError as error:
        raise FetchError(f"fetch: {error}") from None
    return [HttpPiece(url, start, stop) for url in urls]


def _target(pieces: "list[HttpPiece]", out: Path | None, *, overwrite: bool) -> "Target":
    from contextlib import nullcontext

    from incast.client.files import into, places, sweep_up

    if out is None:
        if overwrite:
            raise typer.BadParameter("needs --out DIR", param_hint="--overwrite")
        return lambda _: nullcontext(len)  # `len` discards the bytes
    if out.exists() and not out.is_dir():
        raise FetchError(f"{out}: is a file; --out must be a directory")
    there = places(pieces, out, overwrite=overwrite)
    sweep_up(out)
    return into(there)


def _bounds(part: str | None) -> tuple[int, int | None]:
    if part is None:
        return 0, None
    if found := re.fullmatch("([0-9]{1,18})-([0-9]{0,18})", part):
        first, last = found.groups()
        start, stop = int(first), int(last) + 1 if last else None
        if stop is None or start < stop:
            return start, stop
    raise typer.BadParameter(
        f"{units.plain(part)[:100]} is not a range; must be FIRST-LAST in bytes, e.g. 0-65535",
        param_hint="--range",
    )


def _size(text: str, option: str) -> int:
    size = int(_quantity(text, "size", option))
    if size < 1:
        raise typer.BadParameter(f"{text} must be at least 1B", param_hint=option)
    return size


def _quantity(text: str, kind: str, option: str) -> float:
    try:
        value = units.quantity(text, kind)
    except units.QuantityError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if value <= 0:
        raise typer.BadParameter(f"{text} must be above 0", param_hint=option)
    return value
