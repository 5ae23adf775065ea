"""The receive window of a socket, which limits the bytes that a server may have in flight.

Linux grows a window by itself. It applies `TCP_WINDOW_CLAMP` only until the first full segment
arrives, because that segment shows how much memory a segment needs. So `prepare` makes the buffer
small before the connection opens, and `hold` sets the clamp after data have arrived, and reads it
back. Other systems have no clamp; on them, only the number of answers is limited (`SUPPORTED`).
"""

import socket
import sys
from typing import NamedTuple

SUPPORTED = sys.platform == "linux"
LARGEST = 1 << 30
"""The largest window that a plan may have, bytes."""
_CLAMP = 10  # TCP_WINDOW_CLAMP of linux/tcp.h; Python knows it on Linux only
_OUT_OF_ORDER = 224  # offset of tcpi_rcv_ooopack in struct tcp_info, since Linux 5.5
_INFO = 232  # bytes of struct tcp_info to read


class Held(NamedTuple):
    """The window that was set on a connection, and the window that the kernel uses, in bytes."""

    wanted: int
    got: int


def prepare(sock: socket.socket, window: int | None) -> None:
    """Limit a socket's window to about `window` bytes, before the socket is connected."""
    if window is not None and SUPPORTED:
        # The kernel allocates twice as much memory, and offers at least half of that as the window.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)


def hold(sock: socket.socket, window: int | None) -> Held | None:
    """Set the window of a connection on which a full segment has arrived.

    If the window grows, the socket's memory is enlarged first. The next ACK tells the server the
    new window.

    Returns
    -------
    Held | None
        The window; None if there is no window to set, or the system cannot set one.
    """
    if window is None or not SUPPORTED:
        return None
    now = sock.getsockopt(socket.IPPROTO_TCP, _CLAMP)
    if now != window:
        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) < 2 * window:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        sock.setsockopt(socket.IPPROTO_TCP, _CLAMP, window)
        now = sock.getsockopt(socket.IPPROTO_TCP, _CLAMP)
    return Held(window, now)


def out_of_order(sock: socket.socket) -> int:
    """Return how many packets have arrived behind a gap in the sequence; 0 if unknown."""
    if not SUPPORTED:
        return 0
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO)
    return int.from_bytes(info[_OUT_OF_ORDER : _OUT_OF_ORDER + 4], sys.byteorder)
