"""Reads the captures that incast writes: the frames of one interface, with checksums."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FIN, SYN, ACK = 1, 2, 16
_ETHERNET = 14


@dataclass(frozen=True)
class Frame:
    """A frame of TCP or UDP over IPv4.

    `sums` are the sums over the IP header and over its payload, which are 0 if the checksums are
    valid.
    """

    nanos: int
    kept: int
    length: int
    tos: int
    source: str
    target: str
    ports: tuple[int, int]
    seq: int
    ack: int
    flags: int
    window: int
    payload: int
    options: dict[int, bytes]
    comments: list[str]
    sums: tuple[int, int]


def read(path: Path) -> list[Frame]:
    """Return the frames of a file."""
    return [_frame(body) for kind, body in _blocks(path.read_bytes()) if kind == 6]


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length == struct.unpack_from("<I", data, at + length - 4)[0]
        yield kind, data[at + 8 : at + length - 4]
        at += length
    assert at == len(data)


def _frame(body: bytes) -> Frame:
    _, high, low, kept, length = struct.unpack_from("<IIIII", body)
    data = body[20 : 20 + kept]
    ip = data[_ETHERNET:]
    size = struct.unpack_from(">H", ip, 2)[0]
    carried = ip[20:]
    is_tcp = ip[9] == 6
    header = (carried[12] >> 4) * 4 if is_tcp else 8
    pseudo = ip[12:20] + struct.pack(">HH", ip[9], size - 20)
    seq, ack, flags, window = struct.unpack_from(">IIxBH", carried, 4) if is_tcp else (0, 0, 0, 0)
    return Frame(
        nanos=high << 32 | low,
        kept=kept,
        length=length,
        tos=ip[1],
        source=".".join(map(str, ip[12:16])),
        target=".".join(map(str, ip[16:20])),
        ports=struct.unpack_from(">HH", carried),
        seq=seq,
        ack=ack,
        flags=flags,
        window=window,
        payload=size - 20 - header,
        options=dict(_options(carried[20:header])),
        comments=_comments(body[20 + kept + -kept % 4 :]),
        sums=(_sum(ip[:20]), _sum(pseudo + carried[:header])),
    )


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    while data and data[0]:
        if data[0] == 1:
            data = data[1:]
            continue
        yield data[0], data[2 : data[1]]
        data = data[data[1] :]


def _comments(data: bytes) -> list[str]:
    found = []
    while data:
        code, length = struct.unpack_from("<HH", data)
        if code == 1:
            found.append(data[4 : 4 + length].decode())
        data = data[4 + length + -length % 4 :]
    return found


def _sum(data: bytes) -> int:
    """Return the complement of the sum of the words (RFC 1071)."""
    words = struct.unpack(f">{len(data) // 2}H", data)
    total = sum(words)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
