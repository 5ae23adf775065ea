"""What is to be read, and the result."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from incast.client.governor import Slot
from incast.client.sample import Sample


class ReadError(Exception):
    """A piece that could not be read; the message is one line.

    Parameters
    ----------
    message
        What went wrong.
    final
        Whether another attempt would end in the same way.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class Piece(Protocol):
    """One answer of one server."""

    @property
    def name(self) -> str:
        """What errors and summaries call it."""
        ...


P_contra = TypeVar("P_contra", bound=Piece, contravariant=True)
Write = Callable[[bytes], object]
"""Takes what has arrived, in order."""


class Reader(Protocol[P_contra]):
    """Reads pieces of one kind."""

    async def connect(self, piece: P_contra) -> None:
        """Open the connection before the piece's turn, if that is possible."""
        ...

    async def fetch(self, piece: P_contra, slot: Slot, write: Write) -> None:
        """Request a piece and read it, when its turn has come.

        Raises
        ------
        ReadError
            It could not be read.
        """
        ...


class WriteError(Exception):
    """Data could not be stored; the message is one line."""


Target = Callable[[Piece], AbstractContextManager[Write]]
"""Where a piece goes: entered anew for each attempt, left with the error if it fails."""


@dataclass(frozen=True)
class Outcome:
    """The result of a piece.

    Parameters
    ----------
    name
        The piece's.
    error
        Why it could not be read; None if it was.
    attempts
        How often it was tried.
    waited
        Seconds until the turn of the last attempt.
    sample
        Measurements of the last attempt: bytes, seconds, the longest gap; None without data.
    window
        The receive window that the kernel gave, bytes; None if it was not bounded.
    data
        The bytes, if no target was given.
    """

    name: str
    error: str | None
    attempts: int
    waited: float
    sample: Sample | None
    window: int | None
    data: bytes | None

    @classmethod
    def failed(cls, name: str, error: str) -> Self:
        """Return the result of a piece whose attempt did not end."""
        return cls(name, error, attempts=0, waited=0.0, sample=None, window=None, data=None)
