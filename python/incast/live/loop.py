"""One thread that serves the sockets of all hosts."""

import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from incast._core import hurry

_LONGEST = 0.05  # seconds: the longest wait, after which a cancelled run is noticed
_COARSE = 2e-3  # seconds; epoll, which counts milliseconds, is too coarse below this
_AT_ONCE = 256


class Loop:
    """Calls a function for every socket that can be read or written."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._calls: dict[int, Callable[[int], None]] = {}
        self._sockets: dict[int, socket.socket] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in list(self._sockets.values()):
            one.close()
        self._epoll.close()

    def add(self, one: socket.socket, call: Callable[[int], None], *, writes: bool = False) -> None:
        """Call `call` with the events of a socket; the loop closes the socket when it exits."""
        number = one.fileno()
        self._calls[number], self._sockets[number] = call, one
        self._epoll.register(number, select.EPOLLIN | (select.EPOLLOUT if writes else 0))

    def watch(self, one: socket.socket, *, writes: bool) -> None:
        """Choose whether the loop also calls the function when the socket can be written."""
        self._epoll.modify(one.fileno(), select.EPOLLIN | (select.EPOLLOUT if writes else 0))

    def remove(self, one: socket.socket) -> None:
        """Close a socket."""
        number = one.fileno()
        del self._calls[number], self._sockets[number]
        self._epoll.unregister(number)
        one.close()

    def wait(self, until: float) -> None:
        """Serve the ready sockets; if none is ready, wait until a socket is, or until `until`."""
        left = min(until - time.monotonic(), _LONGEST)
        # If at most `_COARSE` is left, poll without waiting, so that times are exact.
        for number, events in self._epoll.poll(left if left > _COARSE else 0, _AT_ONCE):
            call = self._calls.get(number)
            if call is not None:  # another socket of the batch may have closed this one
                call(events)


@contextmanager
def hurried() -> Iterator[None]:
    """Give this thread priority over ordinary threads, if permitted, but not over the switch."""
    hurry(True)
    try:
        yield
    finally:
        hurry(False)


def writable(events: int) -> bool:
    """Tell whether a socket can be written, or has failed to connect."""
    return bool(events & (select.EPOLLOUT | select.EPOLLERR))
