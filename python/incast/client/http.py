"""Objects and ranges of objects by HTTP/1.1, with aiohttp."""

import os
import socket
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import aiohttp

from incast.client.governor import Governor, Slot
from incast.client.piece import ReadError, Write

PARTIAL, LEAST_ERROR, LEAST_OF_SERVER = 206, 400, 500
TOO_MANY = (408, 425, 429)  # statuses below 500 that another attempt may change
CHUNK = 1 << 18  # bytes that may wait in the reader


@dataclass(frozen=True)
class HttpPiece:
    """An object, or a range of it.

    Parameters
    ----------
    url
        Its address, `http://…` or `https://…`.
    start
        First byte.
    stop
        The byte after the last; None for the rest of the object.
    """

    url: str
    start: int = 0
    stop: int | None = None

    @property
    def name(self) -> str:
        """The address, and the range if it is one."""
        return f"{self.url} [{self.start}:{self._end}]" if self.is_range else self.url

    @property
    def is_range(self) -> bool:
        """Whether this is a range."""
        return self.start > 0 or self.stop is not None

    @property
    def _end(self) -> str:
        return "" if self.stop is None else str(self.stop)

    @property
    def headers(self) -> dict[str, str]:
        """What the request says besides the address (RFC 9110 §14.2)."""
        if not self.is_range:
            return {}
        last = "" if self.stop is None else str(self.stop - 1)
        return {"Range": f"bytes={self.start}-{last}"}


_turn: ContextVar[Slot | None] = ContextVar("turn", default=None)
"""The slot of the task that asks for a connection."""


class _Connector(aiohttp.TCPConnector):
    """Tells the slot on which connection its answer will come, before the request leaves."""

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        connection = await super().connect(req, traces, timeout)
        slot, transport = _turn.get(), connection.transport
        if slot is not None and transport is not None:
            slot.attach(transport.get_extra_info("socket"))
        return connection


class HttpReader:
    """Reads objects and ranges; connections are kept and used again.

    To be used with `async with`.

    Parameters
    ----------
    governor
        Whose windows new connections have.
    headers
        What every request says.
    connect_timeout
        Seconds until a connection must be there; None for as long as the system tries.
    """

    def __init__(
        self,
        governor: Governor,
        *,
        headers: dict[str, str] | None = None,
        connect_timeout: float | None = None,
    ) -> None:
        self._governor = governor
        # Compressed answers would be counted by what they become.
        self._headers = {"Accept-Encoding": "identity", **(headers or {})}
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = _Connector(limit=0, socket_factory=self._socket)
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            timeout=self._timeout,
            read_bufsize=CHUNK,
            auto_decompress=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def connect(self, piece: HttpPiece) -> None:
        """Open a connection to the piece's server: ask for no more than the head of the object."""
        _turn.set(None)
        try:
            async with self._asked().head(piece.url):
                pass
        except aiohttp.ClientError:
            pass  # what is wrong shows when the piece is asked for

    async def fetch(self, piece: HttpPiece, slot: Slot, write: Write) -> None:
        """Ask for a piece and read it.

        Raises
        ------
        ReadError
            No connection, another status than 200 or 206, or an answer that ends early.
        """
        _turn.set(slot)
        try:
            async with self._asked().get(piece.url, headers=piece.headers) as answer:
                _check(answer, piece)
                async for chunk in answer.content.iter_any():
                    slot.received(len(chunk))
                    write(chunk)
        except aiohttp.InvalidURL:
            raise ReadError(
                "is not an address; must be http://… or https://…", final=True
            ) from None
        except aiohttp.ClientError as error:
            raise ReadError(_told(error)) from error

    def _asked(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("an HttpReader must be used with `async with`")
        return self._session

    def _socket(self, address: Any) -> socket.socket:  # noqa: ANN401 (a tuple of getaddrinfo)
        family, kind, protocol, *_ = address
        sock = socket.socket(family, kind, protocol)
        self._governor.prepare(sock)
        return sock


def _check(answer: aiohttp.ClientResponse, piece: HttpPiece) -> None:
    status = answer.status
    if status >= LEAST_ERROR:
        final = status < LEAST_OF_SERVER and status not in TOO_MANY
        raise ReadError(f"the server answers {status} {answer.reason}", final=final)
    if piece.is_range and status != PARTIAL:
        raise ReadError(f"the server answers {status}: it does not serve ranges", final=True)


def _told(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.errno or 0  # of an unknown name it is below 0
        reason = os.strerror(number) if number > 0 else error.os_error.strerror
        return f"no connection to {error.host}:{error.port}: {reason}"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the answer ended early"
    return str(error) or type(error).__name__
