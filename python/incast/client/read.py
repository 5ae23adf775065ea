"""Read many pieces, each in its turn; an error of one piece does not affect the others."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from incast.client import said
from incast.client.governor import Governor
from incast.client.piece import Outcome, Piece, Reader, ReadError, Target, Write, WriteError
from incast.client.summary import Summary

P = TypeVar("P", bound=Piece)
TIMEOUT = 60.0  # seconds that an attempt may take
LONGEST_PAUSE = 10.0  # seconds between two attempts
FIRST_PAUSE = 0.1  # seconds before the second attempt; each later pause is twice as long


@dataclass(frozen=True)
class Progress:
    """The progress of a read.

    Parameters
    ----------
    done
        Pieces that have ended, with or without an error.
    total
        All pieces.
    received
        Bytes that have arrived.
    """

    done: int
    total: int
    received: int


async def read(
    pieces: Sequence[P],
    reader: Reader[P],
    governor: Governor,
    *,
    timeout: float | None = TIMEOUT,
    retries: int = 0,
    target: Target | None = None,
    progress: Callable[[Progress], None] | None = None,
    total: float | None = None,
    stop: asyncio.Event | None = None,
) -> Summary:
    """Read pieces, as many at once as the governor allows.

    Parameters
    ----------
    pieces
        The pieces, in the order in which they get their turns.
    reader
        An `HttpReader` or a `TcpReader`.
    governor
        The governor that gives the turns.
    timeout
        Seconds that an attempt may take after its turn has come, and that opening an early
        connection may take; None for no limit.
    retries
        Number of further attempts if a piece fails. Each attempt waits for a new turn.
    target
        The target that stores the pieces; None to keep them in memory.
    progress
        Function that is called when a piece has ended.
    total
        Seconds that the whole read may take; pieces that have not ended by then fail.
    stop
        Event that ends the read: finished pieces are kept, and all other pieces fail.

    Returns
    -------
    Summary
        The result of each piece, in the order of `pieces`. The errors of pieces are in these
        results; none of them is raised.
    """
    job = _Job(reader, governor, timeout, retries, target)
    done = received = 0
    cause: str | None = None  # the reason, if the read ends before all its pieces

    async def one(piece: P) -> Outcome:
        nonlocal done, received
        try:
            outcome = await job.run(piece)
        except asyncio.CancelledError:
            if cause is None:
                raise
            outcome = Outcome.failed(piece.name, cause)
        done += 1
        received += outcome.sample.received if outcome.sample else 0
        if progress is not None:
            progress(Progress(done, len(pieces), received))
        return outcome

    async def end() -> None:
        nonlocal cause
        try:
            async with asyncio.timeout(total):
                await (stop or asyncio.Event()).wait()
            cause = "interrupted"
        except TimeoutError:
            cause = f"not read before the end of {total:g} s"
        for task in tasks:
            task.cancel()

    started = monotonic()
    ending: asyncio.Task[None] | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(piece)) for piece in pieces]
            ending = asyncio.create_task(
                end()
            )  # created last: a piece's task that it cancels before its start has no result
    finally:
        if ending is not None:
            ending.cancel()
    return Summary(tuple(task.result() for task in tasks), monotonic() - started)


class _Job(Generic[P]):
    def __init__(
        self,
        reader: Reader[P],
        governor: Governor,
        timeout: float | None,
        retries: int,
        target: Target | None,
    ) -> None:
        self._reader, self._governor = reader, governor
        self._timeout, self._retries, self._target = timeout, retries, target

    async def run(self, piece: P) -> Outcome:
        """Try a piece until it is read, or until no attempt is left."""
        for attempt in range(self._retries + 1):
            if attempt:
                await asyncio.sleep(min(FIRST_PAUSE * 2 ** min(attempt - 1, 30), LONGEST_PAUSE))
            outcome, final = await self._attempt(piece, attempt + 1)
            if outcome.error is None or final:
                break
        return outcome

    async def _attempt(self, piece: P, number: int) -> tuple[Outcome, bool]:
        if self._governor.plan.early:
            await self._connect(piece)
        kept: list[bytes] = []
        target = self._target or partial(_memory, kept)
        slot, error, final = self._governor.slot(), None, False
        wished = started = monotonic()
        try:
            async with slot:
                started = monotonic()
                async with asyncio.timeout(self._timeout):
                    with _kept(target, piece) as write:
                        await self._reader.fetch(piece, slot, write)
        except ReadError as wrong:
            error, final = str(wrong), wrong.final
        except WriteError as wrong:
            error, final = str(wrong), True
        except TimeoutError:
            error = f"not read in {self._timeout:g} s" if self._timeout else "no answer in time"
        except Exception as wrong:  # noqa: BLE001 (an error of one piece must not end the others)
            error = said.reason(f"{type(wrong).__name__}: {wrong}")
        outcome = Outcome(
            name=piece.name,
            error=error,
            attempts=number,
            waited=started - wished,
            sample=slot.sample,
            window=slot.held.got if slot.held else None,
            data=b"".join(kept) if self._target is None and error is None else None,
        )
        return outcome, final

    async def _connect(self, piece: P) -> None:
        """Open a connection early; errors are reported when the piece is requested."""
        with suppress(Exception):
            async with asyncio.timeout(self._timeout):
                await self._reader.connect(piece)


@contextmanager
def _kept(target: Target, piece: Piece) -> Iterator[Write]:
    """Enter a target, and turn its errors (of the disk, not of the network) into `WriteError`."""

    def kept(data: bytes) -> None:
        with _writing():
            write(data)

    with ExitStack() as stack:
        with _writing():
            write = stack.enter_context(target(piece))
        yield kept
        with _writing():
            stack.close()


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as wrong:
        text = f"cannot be written: {wrong.strerror or wrong}"
        raise WriteError(said.reason(text)) from wrong


@contextmanager
def _memory(kept: list[bytes], _: Piece) -> Iterator[Write]:
    yield kept.append
