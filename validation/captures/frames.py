"""Read captures that incast or tcpdump wrote, and remove frames from them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FRAME = 6
_ETHERNET = 14
_PCAP = 0xA1B23C4D  # magic number: nanoseconds, byte order of this machine


@dataclass(frozen=True)
class Frame:
    """A frame: its time in seconds, both addresses and ports, and the number of bytes of data."""

    time: float
    source: str
    target: str
    ports: tuple[int, int]
    payload: int


def read(path: Path) -> list[Frame]:
    """Return the frames of a file: a pcapng of incast, or a pcap of tcpdump at a host."""
    return [_frame(time, ip) for time, ip in contents(path)]


def contents(path: Path) -> Iterator[tuple[float, bytes]]:
    """Yield the time and the captured bytes of each IP packet of a file of incast or tcpdump."""
    data = path.read_bytes()
    if struct.unpack_from("=I", data)[0] == _PCAP:
        yield from _records(data)
        return
    for kind, block in _blocks(data):
        if kind == _FRAME:
            kept = struct.unpack_from("<I", block, 20)[0]
            yield _time(block), block[28 + _ETHERNET : 28 + kept]


def lose(path: Path, share: float, seed: str) -> int:
    """Remove a share of the frames, as when a capture is too slow; return the number removed."""
    random = Random(seed)
    kept, lost = bytearray(), 0
    for kind, block in _blocks(path.read_bytes()):
        if kind == _FRAME and random.random() < share:
            lost += 1
        else:
            kept += block
    path.write_bytes(kept)
    return lost


def without_identifications(path: Path) -> None:
    """Set the identification of every IP packet to 0, as some stacks do (RFC 6864 §4.1)."""
    out = bytearray()
    for kind, block in _blocks(path.read_bytes()):
        changed = bytearray(block)
        if kind == _FRAME:
            ip = 28 + _ETHERNET
            sum_, number = struct.unpack_from(">H", block, ip + 10)[0], block[ip + 4 : ip + 6]
            # The checksum grows by the removed value, in one's complement (RFC 1624).
            total = sum_ + struct.unpack(">H", number)[0]
            struct.pack_into(">H", changed, ip + 10, (total & 0xFFFF) + (total >> 16))
            changed[ip + 4 : ip + 6] = bytes(2)
        out += changed
    path.write_bytes(out)


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at : at + length]
        at += length


def _records(data: bytes) -> Iterator[tuple[float, bytes]]:
    at = 24
    while at < len(data):
        seconds, nanoseconds, length = struct.unpack_from("=III", data, at)
        yield seconds + nanoseconds / 1e9, data[at + 16 + _ETHERNET : at + 16 + length]
        at += 16 + length


def _time(block: bytes) -> float:
    high, low = struct.unpack_from("<II", block, 12)
    return float(high << 32 | low) / 1e9


def _frame(time: float, ip: bytes) -> Frame:
    source, target = (str(IPv4Address(ip[at : at + 4])) for at in (12, 16))
    length, header = struct.unpack_from(">H", ip, 2)[0], 4 * (ip[0] & 15)
    one, other = struct.unpack_from(">HH", ip, header)
    payload = length - header - 4 * (ip[header + 12] >> 4)
    return Frame(time, source, target, (one, other), payload)
