"""The kernel's counters of a host, and of a connection."""

import socket
import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from incast._core import Namespace
from incast.live.namespaces import inside

_TABLES = ("netstat", "snmp")
# struct tcp_info (linux/tcp.h): 8 bytes of flags, 24 numbers of 32 bits, ...
_HEAD = struct.Struct("8x24I")
_DATA_SEGMENTS = struct.Struct("I")
_AT_RTO, _AT_RTT = 0, 15  # indices of tcpi_rto and tcpi_rtt among the 24 numbers
_AT_DATA_SEGMENTS = 156  # offset of tcpi_data_segs_out
_LENGTH = 192


def count(hosts: Iterable[Namespace]) -> Counter[str]:
    """Return the sum of the TCP counters of some hosts, by name."""
    total: Counter[str] = Counter()
    for host in hosts:
        with inside(host):
            for table in _TABLES:
                total.update(_parsed(Path(f"/proc/thread-self/net/{table}").read_text()))
    return total


def _parsed(text: str) -> dict[str, int]:
    """Parse pairs of lines: a line of names, and a line of values."""
    lines = text.splitlines()
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        if names.startswith(("Tcp:", "TcpExt:")):
            numbers = (int(value) for value in values.split()[1:])
            found.update(zip(names.split()[1:], numbers, strict=True))
    return found


@dataclass(frozen=True)
class Connection:
    """The kernel's state of one connection (`TCP_INFO`).

    Parameters
    ----------
    rto, rtt
        RTO of the connection, including any back-off, and smoothed round trip, in seconds.
    segments
        Number of segments with data that the connection has sent, with retransmissions.
    """

    rto: float
    rtt: float
    segments: int

    @classmethod
    def of(cls, one: socket.socket) -> "Connection":
        """Read the state of a socket from the kernel."""
        told = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LENGTH)
        numbers = _HEAD.unpack_from(told)
        (segments,) = _DATA_SEGMENTS.unpack_from(told, _AT_DATA_SEGMENTS)
        return cls(numbers[_AT_RTO] / 1e6, numbers[_AT_RTT] / 1e6, segments)
