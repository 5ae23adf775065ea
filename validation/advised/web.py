"""An HTTP/1.1 server with a single object, for event loops that run the servers of many hosts."""

from __future__ import annotations

import asyncio


class Answering(asyncio.Protocol):
    """A connection to the server.

    Parameters
    ----------
    size
        Bytes of the object.
    """

    def __init__(self, size: int) -> None:
        self.body = bytes(size)
        self.head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode()
        self.text = b""
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport of the connection."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that has arrived completely."""
        assert self.transport is not None
        self.text += data
        while b"\r\n\r\n" in self.text:
            asked, _, self.text = self.text.partition(b"\r\n\r\n")
            self.transport.write(self.head)
            if not asked.startswith(b"HEAD"):
                self.transport.write(self.body)
            if b"connection: close" in asked.lower():
                self.transport.close()
