"""A TCP packet as an object with fields, which is parsed from bytes and written to bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

FIN, SYN, PSH, ACK = 1, 2, 8, 16
TCP = 6
"""The protocol's number in an IP header."""
_NOP, _MSS, _SCALE, _SACK_PERMITTED, _SACK, _TIMESTAMPS = 1, 2, 3, 4, 5, 8
_PREFIX = "2001:db8::"


@dataclass(slots=True)
class Packet:
    """One packet, and its time in the capture.

    `interface` is the number of the device that captured the packet; `tag` is the number of its
    VLAN, or 0.
    """

    time: float
    source: str
    target: str
    ports: tuple[int, int]
    seq: int
    ack: int
    flags: int
    window: int
    length: int
    options: bytes = b""
    identification: int = 0
    ttl: int = 64
    ecn: int = 0
    interface: int = 1
    tag: int = 0

    @property
    def way(self) -> tuple[str, int, str, int]:
        """The packet's direction: source address and port, target address and port."""
        return self.source, self.ports[0], self.target, self.ports[1]

    @property
    def back(self) -> tuple[str, int, str, int]:
        """The opposite direction of the packet's connection."""
        return self.target, self.ports[1], self.source, self.ports[0]

    @property
    def end(self) -> int:
        """The sequence number that follows the packet's data."""
        return self.seq + self.length + (self.flags & SYN > 0) + (self.flags & FIN > 0)


def options(
    *,
    mss: int = 0,
    sack_permitted: bool = False,
    scale: int | None = None,
    timestamps: tuple[int, int] | None = None,
    blocks: list[tuple[int, int]] | None = None,
) -> bytes:
    """Return TCP options, each with the padding that stacks use."""
    told = b""
    if mss:
        told += struct.pack(">BBH", _MSS, 4, mss)
    if sack_permitted:
        told += bytes((_NOP, _NOP, _SACK_PERMITTED, 2))
    if timestamps is not None:
        values = (value & 0xFFFFFFFF for value in timestamps)
        told += bytes((_NOP, _NOP)) + struct.pack(">BBII", _TIMESTAMPS, 10, *values)
    if scale is not None:
        told += bytes((_NOP, _SCALE, 3, scale))
    if blocks:
        most = blocks[: 3 if timestamps is not None else 4]
        told += bytes((_NOP, _NOP, _SACK, 2 + 8 * len(most)))
        for first, end in most:
            told += struct.pack(">II", first & 0xFFFFFFFF, end & 0xFFFFFFFF)
    return told


def parse(time: float, data: bytes) -> Packet:
    """Parse the bytes of an IPv4 packet; the end of its payload may be missing."""
    header = 4 * (data[0] & 15)
    length, identification = struct.unpack_from(">HH", data, 2)
    tcp = data[header:]
    one, other, seq, ack, offset, flags, window = struct.unpack_from(">HHIIBBH", tcp)
    offset = 4 * (offset >> 4)
    return Packet(
        time,
        str(IPv4Address(data[12:16])),
        str(IPv4Address(data[16:20])),
        (one, other),
        seq,
        ack,
        flags,
        window,
        length - header - offset,
        bytes(tcp[20:offset]),
        identification,
        data[8],
        data[1] & 3,
    )


def ip_bytes(packet: Packet, most: int) -> tuple[bytes, int]:
    """Return the first `most` bytes of the IPv4 or IPv6 packet, and its whole length."""
    one, other = packet.ports
    offset = 20 + len(packet.options)
    tcp = struct.pack(
        ">HHIIBBHHH",
        one,
        other,
        packet.seq & 0xFFFFFFFF,
        packet.ack & 0xFFFFFFFF,
        offset << 2,
        packet.flags,
        packet.window,
        0,
        0,
    )
    payload = offset + packet.length
    if ":" in packet.source:
        ends = IPv6Address(packet.source).packed + IPv6Address(packet.target).packed
        head = struct.pack(">IHBB", 6 << 28 | packet.ecn << 20, payload, TCP, packet.ttl) + ends
    else:
        ends = IPv4Address(packet.source).packed + IPv4Address(packet.target).packed
        head = ipv4_header(TCP, payload, packet.identification, packet.ttl, packet.ecn) + ends
    told = head + tcp + packet.options
    return (told + bytes(max(0, most - len(told))))[:most], len(head) + payload


def ipv4_header(
    protocol: int, payload: int, identification: int = 0, ttl: int = 64, ecn: int = 0
) -> bytes:
    """Return an IPv4 header without its addresses; its checksum is 0, as with offload."""
    return struct.pack(
        ">BBHHHBBH", 0x45, ecn, 20 + payload, identification & 0xFFFF, 0x4000, ttl, protocol, 0
    )


def as_ipv6(address: str) -> str:
    """Return the IPv6 address that replaces an IPv4 address."""
    return str(IPv6Address(int(IPv6Address(_PREFIX)) + int(IPv4Address(address))))


def blocks_of(packet: Packet) -> list[tuple[int, int]]:
    """Return the selective acknowledgements of a packet."""
    told, at = packet.options, 0
    while at < len(told):
        if told[at] <= _NOP:
            at += 1
            continue
        if told[at] == _SACK:
            numbers = struct.unpack_from(f">{(told[at + 1] - 2) // 4}I", told, at + 2)
            return list(zip(numbers[::2], numbers[1::2], strict=True))
        at += told[at + 1]
    return []
