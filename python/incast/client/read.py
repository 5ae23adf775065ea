"""Read many pieces: each in its turn, the errors of one without effect on the others."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Generic, TypeVar

from incast.client.governor import Governor
from incast.client.piece import Outcome, Piece, Reader, ReadError, Target, Write
from incast.client.summary import Summary

P = TypeVar("P", bound=Piece)
FIRST_PAUSE = 0.1  # seconds before the second attempt; each later pause is twice as long


@dataclass(frozen=True)
class Progress:
    """How far a read is.

    Parameters
    ----------
    done
        Pieces that have ended, well or not.
    total
        All pieces.
    received
        Bytes so far.
    """

    done: int
    total: int
    received: int


async def read(
    pieces: Sequence[P],
    reader: Reader[P],
    governor: Governor,
    *,
    timeout: float | None = None,
    retries: int = 0,
    target: Target | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Summary:
    """Read pieces, as many at once as the governor lets.

    Parameters
    ----------
    pieces
        What to read, in the order in which they get their turns.
    reader
        An `HttpReader` or a `TcpReader`.
    governor
        Who gives the turns.
    timeout
        Seconds that an attempt may take from its turn on.
    retries
        Further attempts of a piece that failed. Each waits for a turn again.
    target
        Where the pieces go; None to keep them in memory.
    progress
        Is called when a piece has ended.

    Returns
    -------
    Summary
        What came of each piece, in their order. Errors are in it; none is raised.
    """
    job = _Job(reader, governor, timeout, retries, target)
    done = received = 0

    async def one(piece: P) -> Outcome:
        nonlocal done, received
        outcome = await job.run(piece)
        done += 1
        received += outcome.sample.received if outcome.sample else 0
        if progress is not None:
            progress(Progress(done, len(pieces), received))
        return outcome

    started = monotonic()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(piece)) for piece in pieces]
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
                await asyncio.sleep(FIRST_PAUSE * 2 ** (attempt - 1))
            outcome, final = await self._attempt(piece, attempt + 1)
            if outcome.error is None or final:
                break
        return outcome

    async def _attempt(self, piece: P, number: int) -> tuple[Outcome, bool]:
        if self._governor.plan.early:
            await self._reader.connect(piece)
        kept: list[bytes] = []
        target = self._target or partial(_memory, kept)
        slot, error, final = self._governor.slot(), None, False
        wished = started = monotonic()
        try:
            async with slot:
                started = monotonic()
                async with asyncio.timeout(self._timeout):
                    with target(piece) as write:
                        await self._reader.fetch(piece, slot, write)
        except ReadError as wrong:
            error, final = str(wrong), wrong.final
        except TimeoutError:
            error = f"not read in {self._timeout:g} s"
        except OSError as wrong:
            error, final = f"cannot be written: {wrong.strerror or wrong}", True
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


@contextmanager
def _memory(kept: list[bytes], _: Piece) -> Iterator[Write]:
    yield kept.append
