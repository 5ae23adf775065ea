"""Pieces that a client reads, their readers, and their results."""

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
        The error.
    final
        Whether another attempt would end with the same error.
    """

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


class Piece(Protocol):
    """One answer of one server."""

    @property
    def name(self) -> str:
        """The name of the piece in errors and summaries."""
        ...


P_contra = TypeVar("P_contra", bound=Piece, contravariant=True)
Write = Callable[[bytes], object]
"""A function that takes the data of a piece, in order."""


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
            The piece could not be read.
        """
        ...


class WriteError(Exception):
    """Data could not be stored; the message is one line."""


Target = Callable[[Piece], AbstractContextManager[Write]]
"""Returns a context that stores the data of a piece.

Each attempt enters a new context. If an attempt fails, the context receives the error.
"""


@dataclass(frozen=True)
class Outcome:
    """The result of a piece.

    Parameters
    ----------
    name
        The name of the piece.
    error
        The reason why the piece could not be read; None if it was read.
    attempts
        Number of attempts.
    waited
        Seconds that the last attempt waited for its turn.
    sample
        Measurements of the last attempt: bytes, seconds, the longest gap; None if no data arrived.
    window
        The receive window that the kernel used, bytes; None if no window was set.
    data
        The bytes of a piece that was read without a target; None otherwise.
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
