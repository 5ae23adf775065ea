"""Objects and ranges of objects by HTTP/1.1, with aiohttp."""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from weakref import WeakSet

import aiohttp

from incast.client import said
from incast.client.answer import Expected
from incast.client.governor import Governor, Slot
from incast.client.piece import ReadError, Write
from incast.client.request import HttpPiece

CHUNK = 1 << 18  # maximum number of bytes that the reader buffers


@dataclass
class _Turn:
    """An attempt to read a piece, with a future for the end of its connection."""

    slot: Slot | None = None
    closed: "asyncio.Future[None] | None" = None
    secure: bool = False
    """Whether redirects must lead to https."""
    hops: int = 0


_turn: ContextVar[_Turn | None] = ContextVar("turn", default=None)
"""The attempt to read a piece, in the task that requests a connection for it."""


class _Connector(aiohttp.TCPConnector):
    """Tells the slot which connection its answer uses, before the request is sent."""

    def __init__(self, socket_factory: Callable[[Any], socket.socket]) -> None:
        super().__init__(limit=0, socket_factory=socket_factory)
        self._used: WeakSet[object] = WeakSet()

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        turn = _turn.get()
        if turn is not None:
            if turn.secure and req.url.scheme != "https":
                raise ReadError("is redirected from https to http", final=True)
            turn.secure, turn.hops = req.url.scheme == "https", turn.hops + 1
        connection = await self._unspoilt(req, traces, timeout)
        transport = connection.transport
        if turn is not None and transport is not None:
            protocol = connection.protocol
            turn.closed = None if protocol is None else protocol.closed
            if turn.closed is not None:  # retrieve the error even if nothing awaits it
                turn.closed.add_done_callback(lambda end: end.cancelled() or end.exception())
            if turn.slot is not None:
                turn.slot.attach(transport.get_extra_info("socket"))
        return connection

    async def _unspoilt(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        """Return a connection without unrequested data; close the connections that have some.

        Data that arrive between two requests would be read as the answer to the next request.
        """
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            is_kept = protocol in self._used
            if protocol is None or not (is_kept and _spoilt(protocol)):
                break
            connection.close()
        if protocol is not None:
            self._used.add(protocol)
        return connection


class HttpReader:
    """Reads objects and ranges, and reuses connections.

    Use a reader with `async with`. For all ranges of one address, the server must state the same
    entity tag and the same length of the object, if it states them.

    Parameters
    ----------
    governor
        The governor that limits the windows of new connections.
    headers
        Headers of every request.
    connect_timeout
        Seconds within which a connection must open; None for the limit of the operating system.
    most
        Maximum bytes of an answer; None for the length that the answer states, or 1 GiB if it
        states none.
    """

    def __init__(
        self,
        governor: Governor,
        *,
        headers: dict[str, str] | None = None,
        connect_timeout: float | None = None,
        most: int | None = None,
    ) -> None:
        self._governor, self._most = governor, most
        self._versions: dict[str, tuple[str | None, int | None]] = {}
        # With compression, the bytes read would not be the bytes of the object.
        self._headers = {"Accept-Encoding": "identity", **(headers or {})}
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = _Connector(self._socket)
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
        """Open a connection to the piece's server with an HTTP HEAD request."""
        _turn.set(None)
        try:
            async with self._asked().head(piece.url):
                pass
        except (aiohttp.ClientError, OSError, ValueError):
            pass  # errors are reported when the piece is requested

    async def fetch(self, piece: HttpPiece, slot: Slot, write: Write) -> None:
        """Request a piece and read it.

        Raises
        ------
        ReadError
            There is no connection; the status is not 200, or not 206 for a range; the range, length
            or encoding differs from the request or from the head of the answer; or the answer ends
            early.
        """
        turn = _Turn(slot)
        _turn.set(turn)
        received = 0
        try:
            async with self._asked().get(piece.url, headers=piece.headers) as answer:
                expected = Expected.of(answer, piece, self._most)
                self._hold(piece, expected)
                async for chunk in answer.content.iter_any():
                    received += len(chunk)
                    expected.check(received)
                    slot.received(len(chunk))
                    write(chunk)
        except aiohttp.InvalidURL as error:
            raise ReadError(_of_address(error, turn), final=True) from None
        except aiohttp.ClientError as error:
            raise ReadError(_told(error)) from error
        except UnicodeError:  # not a name of a host
            is_own = turn.hops == 1
            told = "has an invalid host name" if is_own else "is redirected to an invalid host name"
            raise ReadError(told, final=True) from None
        expected.end(received)
        if expected.by_end and turn.closed is not None:
            await _clean(turn.closed)

    def _hold(self, piece: HttpPiece, expected: Expected) -> None:
        """Refuse a range if the object has changed since its first range was read."""
        if not piece.is_range:
            return
        known = self._versions.get(piece.url, (None, None))
        pairs = list(zip(known, expected.version, strict=True))
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            raise ReadError("the object has changed since its first range", final=True)
        tag, size = (new if old is None else old for old, new in pairs)
        self._versions[piece.url] = (tag, size)  # type: ignore[assignment]

    def _asked(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("an HttpReader must be used with `async with`")
        return self._session

    def _socket(self, address: Any) -> socket.socket:  # noqa: ANN401 (a tuple of getaddrinfo)
        family, kind, protocol, *_ = address
        sock = socket.socket(family, kind, protocol)
        self._governor.prepare(sock)
        return sock


def _spoilt(protocol: aiohttp.client_proto.ResponseHandler) -> bool:
    """Return whether data, such as a part of a head, have arrived on an idle connection.

    Only the parser of the connection knows of incomplete data; the next request has a new parser.
    """
    if protocol.should_close:
        return True
    parser = protocol._parser  # noqa: SLF001 (only it has incomplete data)
    try:
        return parser is not None and parser.feed_eof() is not None
    except aiohttp.http_exceptions.HttpProcessingError:
        return True


async def _clean(closed: "asyncio.Future[None]") -> None:
    """Refuse an answer of unknown length if its connection was reset: bytes may be missing."""
    try:
        await asyncio.shield(closed)
    except (aiohttp.ClientError, OSError):
        raise ReadError("the connection was reset before the answer had ended") from None


def _of_address(error: aiohttp.InvalidURL, turn: _Turn) -> str:
    """Say which address is invalid: the given one, or the target of a redirect.

    The exception of aiohttp names only the host.
    """
    if turn.hops <= 1 and not isinstance(error, aiohttp.InvalidUrlRedirectClientError):
        return "is not an address; must be http://… or https://…"
    return f"is redirected to {said.address(str(error.url))}, which is not an address"


def _told(error: BaseException) -> str:
    """Return the reason why there is no answer, in one line."""
    for kind, told in _REASONS:
        if isinstance(error, kind):
            return told(error)
    return said.reason(str(error)) or type(error).__name__


def _of_certificate(error: Any) -> str:  # noqa: ANN401 (ClientConnectorCertificateError)
    wrong = error.certificate_error
    why = getattr(wrong, "verify_message", "") or str(wrong)
    return f"certificate of {error.host}:{error.port} not trusted: {said.reason(why)}"


def _of_connector(error: Any) -> str:  # noqa: ANN401 (ClientConnectorError)
    return f"no connection to {error.host}:{error.port}: {_of_system(error.os_error)}"


def _of_system(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"no TLS: {said.reason(error.reason or str(error))}"
    number = error.errno or 0  # negative if the host name is unknown
    if number > 0:
        return os.strerror(number)
    return said.reason(error.strerror or str(error)) or "closed by the server"


_REASONS: tuple[tuple[type[BaseException], Callable[[Any], str]], ...] = (
    (TimeoutError, lambda _: "no answer in time"),
    (aiohttp.ClientConnectorCertificateError, _of_certificate),
    (aiohttp.ClientConnectorError, _of_connector),
    (aiohttp.ClientOSError, lambda error: f"the connection failed: {_of_system(error)}"),
    (
        aiohttp.RedirectClientError,
        lambda error: f"is redirected to {said.address(str(error))}; must be http://… or https://…",
    ),
    (aiohttp.TooManyRedirects, lambda _: "is redirected too often"),
    (aiohttp.ClientPayloadError, lambda _: "the answer ended early"),
    (aiohttp.ServerDisconnectedError, lambda _: "the connection was closed before an answer"),
    (
        aiohttp.ClientResponseError,
        lambda error: f"the answer is not HTTP: {said.reason(error.message)}",
    ),
)
"""Kinds of errors, and functions that describe them; the first kind that matches is used."""
