"""Read pieces by plain TCP: send a request, and read an answer of known or unknown size."""

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, Self

from incast.client.governor import Governor, Slot
from incast.client.piece import ReadError, Write

BUFFER = 1 << 18  # maximum number of bytes that are read at once
UNBOUNDED = 1 << 30
"""Maximum bytes of an answer of unknown size, unless the caller sets another limit."""
Place = tuple[int, int, int, str, Any]
"""An address as `getaddrinfo` returns it."""


@dataclass(frozen=True)
class TcpPiece:
    """A request to a server, and its answer.

    Parameters
    ----------
    host, port
        Address of the server.
    request
        Bytes of the request.
    size
        Bytes of the answer, after which the connection is reused; None to read until the server
        closes the connection.
    """

    host: str
    port: int
    request: bytes
    size: int | None = None

    @property
    def name(self) -> str:
        """The server."""
        return f"{self.host}:{self.port}"


class TcpReader:
    """Reads answers by plain TCP. Use a reader with `async with`.

    Parameters
    ----------
    governor
        The governor that limits the windows of new connections.
    connect_timeout
        Seconds within which a connection must open; None for the limit of the operating system.
    most
        Maximum bytes of an answer without `size`.
    """

    def __init__(
        self,
        governor: Governor,
        *,
        connect_timeout: float | None = None,
        most: int = UNBOUNDED,
    ) -> None:
        self._governor, self._most = governor, most
        self._connect_timeout = connect_timeout
        self._idle: dict[str, list[_Connection]] = {}
        self._buffer = bytearray(BUFFER)  # shared: each connection copies its data out immediately

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for connection in [it for those in self._idle.values() for it in those]:
            connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # the loop closes the connections in its next iteration

    async def connect(self, piece: TcpPiece) -> None:
        """Open a connection for a piece whose request must still wait for its turn."""
        try:
            connection = await self._take(piece)
        except ReadError:
            return  # errors are reported when the piece is requested
        self._give_back(piece, connection)

    async def fetch(self, piece: TcpPiece, slot: Slot, write: Write) -> None:
        """Send the request and read the answer.

        Raises
        ------
        ReadError
            There is no connection, or the connection closes before the whole answer has arrived.
        """
        connection = await self._take(piece)
        try:
            slot.attach(connection.sock)
            await connection.ask(piece, slot, write, self._most)
        except BaseException:
            connection.close()
            raise
        if piece.size is None:
            connection.close()
        else:
            self._give_back(piece, connection)

    async def _take(self, piece: TcpPiece) -> "_Connection":
        idle = self._idle.get(piece.name, [])
        while idle:
            connection = idle.pop()
            if not connection.is_closed:
                return connection
        try:
            async with asyncio.timeout(self._connect_timeout):
                return await self._open(piece)
        except TimeoutError:
            raise ReadError("no connection in time") from None
        except UnicodeError:
            raise ReadError("has an invalid host name", final=True) from None
        except OSError as error:
            raise ReadError(f"cannot connect: {error.strerror or error}") from error

    def _give_back(self, piece: TcpPiece, connection: "_Connection") -> None:
        self._idle.setdefault(piece.name, []).append(connection)

    async def _open(self, piece: TcpPiece) -> "_Connection":
        loop = asyncio.get_running_loop()
        places = await loop.getaddrinfo(piece.host, piece.port, type=socket.SOCK_STREAM)
        for place in places[:-1]:
            with suppress(OSError):
                return await self._open_at(place)
        return await self._open_at(places[-1])

    async def _open_at(self, place: Place) -> "_Connection":
        loop = asyncio.get_running_loop()
        family, kind, protocol, _, address = place
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            self._governor.prepare(sock)
            await loop.sock_connect(sock, address)
            made = partial(_Connection, sock, self._buffer)
            _, connection = await loop.create_connection(made, sock=sock)
        except BaseException:
            sock.close()
            raise
        return connection


class _Connection(asyncio.BufferedProtocol):
    """One connection, which passes on the data of the answer."""

    def __init__(self, sock: socket.socket, buffer: bytearray) -> None:
        self.sock = sock
        self.is_closed = False
        self._buffer = buffer
        self._transport: asyncio.Transport | None = None
        self._left: int | None = 0
        self._most = 0
        self._end: asyncio.Future[None] | None = None
        self._slot: Slot | None = None
        self._write: Write | None = None

    async def ask(self, piece: TcpPiece, slot: Slot, write: Write, most: int) -> None:
        """Send a request and wait for the whole answer."""
        if self._transport is None or self.is_closed:
            raise ReadError("the server closed the connection")
        self._end = asyncio.get_running_loop().create_future()
        self._left, self._slot, self._write = piece.size, slot, write
        self._most = most
        self._transport.write(piece.request)
        try:
            await self._end
        finally:
            self._end = self._slot = self._write = None

    def close(self) -> None:
        """Close the connection."""
        self.is_closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; asyncio calls this."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 (of a stream socket)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 (asyncio's signature)
        """Return the buffer for arriving data."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Pass on data that have arrived."""
        if self._end is None or self._end.done() or self._slot is None or self._write is None:
            self.close()  # data that nobody requested
            return
        if self._left is not None and nbytes > self._left:
            self._fail(
                f"the answer is longer than {self._slot.ticket.delivered + self._left} bytes"
            )
            return
        if self._left is None and self._slot.ticket.delivered + nbytes > self._most:
            self._fail(f"the answer is longer than {self._most} bytes")
            return
        self._slot.received(nbytes)
        try:
            self._write(bytes(memoryview(self._buffer)[:nbytes]))
        except Exception as error:  # noqa: BLE001 (it is the error of this piece)
            self._end.set_exception(error)
            return
        if self._left is not None:
            self._left -= nbytes
            if not self._left:
                self._end.set_result(None)

    def eof_received(self) -> None:
        """End the answer if its size is unknown; otherwise report the missing bytes."""
        self.is_closed = True
        if self._end is not None and not self._end.done():
            if self._left is None:
                self._end.set_result(None)
            else:
                self._fail(f"the server closed the connection with {self._left} bytes missing")

    def connection_lost(self, exc: Exception | None) -> None:
        """End an incomplete answer with an error."""
        self.is_closed = True
        self._fail(f"the connection broke: {exc}" if exc else "the connection was closed")

    def _fail(self, message: str) -> None:
        if self._end is not None and not self._end.done():
            self._end.set_exception(ReadError(message))
