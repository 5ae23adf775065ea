"""Servers that answer each request with the number of bytes that it asks for."""

import socket
import struct
from collections.abc import Sequence

from incast._core import FIRST_PORT, Namespace
from incast.live.counters import Connection
from incast.live.loop import Loop, writable
from incast.live.namespaces import inside
from incast.live.star import address

REQUEST = struct.Struct("!Q")
"""The format of a request: the number of bytes to send."""
ENDLESS = 2**63
_ZEROS = memoryview(bytes(1 << 20))
_FLOOD_BUFFER = 1 << 18


class Server:
    """The server of one flow.

    Parameters
    ----------
    loop
        The loop that serves the sockets of the server.
    host, number, flow
        The server's namespace, the number of its host, and the number of its flow.
    """

    def __init__(self, loop: Loop, host: Namespace, number: int, flow: int) -> None:
        self.loop = loop
        self.ended: list[Connection] = []  # state of closed connections
        self.answers: list[_Answer] = []
        with inside(host):
            self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.setblocking(False)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((address(number), FIRST_PORT + flow))
        self.listener.listen(16)
        loop.add(self.listener, self.accept)

    def accept(self, _: int) -> None:
        """Accept a waiting connection, if there is one."""
        try:
            one, _peer = self.listener.accept()
        except BlockingIOError:
            return
        self.answers.append(_Answer(self, one))

    def connections(self) -> Sequence[Connection]:
        """Return the kernel's state of all connections of the server."""
        return [*self.ended, *(Connection.of(answer.socket) for answer in self.answers)]


class _Answer:
    """An accepted connection."""

    def __init__(self, server: Server, one: socket.socket) -> None:
        self.server = server
        self.socket = one
        self.owed = 0
        self.waits = False  # whether the answer waits for space in the send buffer
        one.setblocking(False)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.loop.add(one, self.serve)

    def serve(self, events: int) -> None:
        """Read requests, and send the requested bytes."""
        if self.waits and writable(events):
            self.send()
        try:
            text = self.socket.recv(REQUEST.size)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self.server.ended.append(Connection.of(self.socket))
            self.server.answers.remove(self)
            self.server.loop.remove(self.socket)
            return
        (wanted,) = REQUEST.unpack(text)  # a request arrives in a single segment
        if wanted == ENDLESS:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _FLOOD_BUFFER)
        self.owed += wanted
        self.send()

    def send(self) -> None:
        """Write as many requested bytes as the socket accepts."""
        try:
            while self.owed:
                self.owed -= self.socket.send(_ZEROS[: min(self.owed, len(_ZEROS))])
        except BlockingIOError:
            pass
        except OSError:
            self.owed = 0  # the client has closed the connection
        if self.waits != bool(self.owed):
            self.waits = bool(self.owed)
            self.server.loop.watch(self.socket, writes=self.waits)
