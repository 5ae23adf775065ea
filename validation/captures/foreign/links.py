"""The headers that precede an IP packet in a frame: links, tags, tunnels and mirrors."""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from validation.captures.foreign.packet import ipv4_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.captures.foreign.packet import Packet

TUNNELS = ("vxlan", "geneve", "gre", "erspan1", "erspan2", "erspan3", "ipip")
"""Tunnels with outer addresses. A report should name these tunnels."""
LINKS = ("mpls", "qinq", "pppoe", "loopback", "sll", "sll2", "raw")
_TYPES = {"loopback": 0, "raw": 101, "sll": 113, "sll2": 276}
_ETHERNET = 1
_OUTER = tuple(IPv4Address(text).packed for text in ("203.0.113.1", "203.0.113.2"))
_MACS = bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1))
_MIRROR = bytes((2, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 3))


def link_type(kind: str) -> int:
    """Return the link type of a file with frames of this kind."""
    return _TYPES.get(kind, _ETHERNET)


def head(kind: str, packet: Packet, inner: int) -> bytes:
    """Return the headers before an IP packet of `inner` bytes."""
    version6 = ":" in packet.source
    protocol = b"\x86\xdd" if version6 else b"\x08\x00"
    if kind in _PLAIN:
        return _PLAIN[kind](packet, protocol, inner)
    return _tunnel(kind, protocol, inner)


def _ethernet(packet: Packet, protocol: bytes, _: int) -> bytes:
    tag = struct.pack(">HH", 0x8100, packet.tag) if packet.tag else b""
    return _MACS + tag + protocol


def _qinq(_: Packet, protocol: bytes, __: int) -> bytes:
    return _MACS + struct.pack(">HHHH", 0x88A8, 100, 0x8100, 7) + protocol


def _mpls(_: Packet, __: bytes, ___: int) -> bytes:
    return _MACS + struct.pack(">HII", 0x8847, 16000 << 12 | 64, 16001 << 12 | 0x100 | 64)


def _pppoe(_: Packet, protocol: bytes, inner: int) -> bytes:
    ppp = 0x57 if protocol == b"\x86\xdd" else 0x21
    return _MACS + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 77, inner + 2, ppp)


def _loopback(_: Packet, protocol: bytes, __: int) -> bytes:
    return struct.pack("=I", 30 if protocol == b"\x86\xdd" else 2)


def _raw(_: Packet, __: bytes, ___: int) -> bytes:
    return b""


def _sll(packet: Packet, protocol: bytes, _: int) -> bytes:
    return struct.pack(">HHH", 4 * (packet.interface % 2), 1, 6) + _MACS[:6] + bytes(2) + protocol


def _sll2(packet: Packet, protocol: bytes, _: int) -> bytes:
    kind = 4 * (packet.interface % 2)
    return protocol + struct.pack(">HIHBB", 0, packet.interface, 1, kind, 6) + _MACS[:6] + bytes(2)


_PLAIN: dict[str, Callable[[Packet, bytes, int], bytes]] = {
    "ethernet": _ethernet,
    "qinq": _qinq,
    "mpls": _mpls,
    "pppoe": _pppoe,
    "loopback": _loopback,
    "raw": _raw,
    "sll": _sll,
    "sll2": _sll2,
}


def _tunnel(kind: str, protocol: bytes, inner: int) -> bytes:
    """Return the headers of Ethernet, of the outer IP packet, and of the tunnel."""
    if kind == "ipip":
        return _outer(41 if protocol == b"\x86\xdd" else 4, b"", inner)
    if kind == "gre":
        return _outer(47, bytes(2) + protocol, inner)
    frame = _MACS + protocol
    if kind == "vxlan":
        return _udp(4789, struct.pack(">II", 0x08000000, 42 << 8), frame, inner)
    if kind == "geneve":
        return _udp(6081, struct.pack(">HHI", 0, 0x6558, 42 << 8), frame, inner)
    told = {
        "erspan1": struct.pack(">HH", 0, 0x88BE),
        "erspan2": struct.pack(">HHIII", 0x1000, 0x88BE, 7, 0x1001000A, 0),
        "erspan3": struct.pack(">HHIIII", 0x1000, 0x22EB, 7, 0x2001000A, 123, 0),
    }[kind]
    return _outer(47, told + frame, inner)


def _udp(port: int, told: bytes, frame: bytes, inner: int) -> bytes:
    length = 8 + len(told) + len(frame) + inner
    return _outer(17, struct.pack(">HHHH", 49152, port, length, 0) + told + frame, inner)


def _outer(protocol: int, told: bytes, inner: int) -> bytes:
    ip = ipv4_header(protocol, len(told) + inner) + b"".join(_OUTER)
    return _MIRROR + b"\x08\x00" + ip + told
