"""Read the simulator's captures as packets, and write packets to files like those of tcpdump."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from validation.captures.foreign import links
from validation.captures.foreign.packet import TCP, ip_bytes, parse
from validation.captures.frames import contents

if TYPE_CHECKING:
    from pathlib import Path

    from validation.captures.foreign.packet import Packet

_NANO, _MICRO = 0xA1B23C4D, 0xA1B2C3D4


@dataclass(frozen=True)
class Form:
    """The form of a file: its link type, the bytes that it keeps per frame, and its clock."""

    link: str = "ethernet"
    snaplen: int = 256
    nanoseconds: bool = True
    order: str = "<"


def read(path: Path) -> list[Packet]:
    """Return the TCP packets of a capture that the simulator or tcpdump wrote."""
    return [parse(time, ip) for time, ip in contents(path) if ip[9] == TCP]


def write(packets: list[Packet], path: Path, form: Form) -> None:
    """Write packets to a file, in the given order."""
    magic, unit = (_NANO, 10**9) if form.nanoseconds else (_MICRO, 10**6)
    link = links.link_type(form.link)
    out = [struct.pack(form.order + "IHHiIII", magic, 2, 4, 0, 0, form.snaplen, link)]
    for packet in packets:
        inner, length = ip_bytes(packet, form.snaplen)
        head = links.head(form.link, packet, length)
        kept = (head + inner)[: min(form.snaplen, len(head) + length)]
        seconds, rest = divmod(round(packet.time * unit), unit)
        record = (seconds, rest, len(kept), len(head) + length)
        out += [struct.pack(form.order + "IIII", *record), kept]
    path.write_bytes(b"".join(out))
