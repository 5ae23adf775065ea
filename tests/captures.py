"""Captures for tests, built by hand: pcap files of a few flows into one client."""

import struct
from pathlib import Path

CLIENT = "10.0.0.1"
_MSS = 1460
_SYN, _FIN, _ACK = 2, 1, 16


class Builder:
    """Collects frames at times in seconds, and writes them in order."""

    def __init__(self) -> None:
        self.frames: list[tuple[float, bytes]] = []

    def add(
        self,
        time: float,
        ends: tuple[int, int],
        numbers: tuple[int, int],
        size: int,
        flags: int,
        identification: int = 0,
    ) -> None:
        """Add a segment from host 10.0.0.`ends[0]` to 10.0.0.`ends[1]`; the client is host 1."""
        source, target = ends
        ports = (8000, 40000 + source) if target == 1 else (40000 + target, 8000)
        mss = b"\x02\x04" + struct.pack("!H", _MSS) if flags & _SYN else b""
        tcp = struct.pack(
            "!HHIIBBHHH", *ports, *numbers, (20 + len(mss)) // 4 << 4, flags, 65535, 0, 0
        )
        length = 20 + len(tcp) + len(mss) + size
        ip = struct.pack(
            "!BBHHHBBH4B4B",
            0x45,
            0,
            length,
            identification,
            0x4000,
            64,
            6,
            0,
            10,
            0,
            0,
            source,
            10,
            0,
            0,
            target,
        )
        self.frames.append((time, bytes(12) + b"\x08\x00" + ip + tcp + mss + bytes(size)))

    def write(self, path: Path) -> Path:
        """Write the frames as a pcap file with nanoseconds."""
        parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
        for time, frame in sorted(self.frames, key=lambda one: one[0]):
            seconds, part = divmod(round(time * 1e9), 10**9)
            parts.append(struct.pack("<IIII", seconds, part, len(frame), len(frame)) + frame)
        path.write_bytes(b"".join(parts))
        return path


def inside_ip(frame: bytes) -> bytes:
    """Return the frame with its IP packet inside another IP packet (RFC 2003)."""
    length = struct.pack("!H", 20 + len(frame) - 14)
    outer = b"\x45\x00" + length + bytes(5) + b"\x04" + bytes(2) + bytes([10, 9, 0, 1, 10, 9, 0, 2])
    return frame[:14] + outer + frame[14:]


def is_of_client(frame: bytes) -> bool:
    """Whether the client sends the frame."""
    return frame[26:30] == bytes([10, 0, 0, 1])


def read(path: Path, servers: int, lost: int = 0, late: float = 0.0, packets: int = 20) -> Path:
    """Write a read seen at the client (see `built`)."""
    return built(servers, lost, late, packets).write(path)


def built(
    servers: int,
    lost: int = 0,
    late: float = 0.0,
    packets: int = 20,
    *,
    counted: bool = True,
) -> Builder:
    """Return the frames of a read seen at the client.

    Parameters
    ----------
    servers
        Number of servers that answer.
    lost
        Number of servers that lose their last four packets and retransmit them about 0.2 s later.
    late
        Seconds that the first server waits before its answer.
    packets
        Number of packets of each answer.
    counted
        Whether each packet of a server has the next IP identification, as with Linux. Lost packets
        then leave gaps in the identifications. Otherwise all identifications are zero.
    """
    capture, trip, slot = Builder(), 100e-6, 12e-6
    for server in range(2, servers + 2):
        start = 1.0 + server * 1e-6
        capture.add(start, (1, server), (0, 0), 0, _SYN)
        capture.add(start + trip, (server, 1), (0, 1), 0, _SYN | _ACK)
        capture.add(start + trip, (1, server), (1, 1), 64, _ACK)
        think = late if server == 2 else 0.0
        for number in range(packets):
            turn = number if think else number * servers + server
            time, identification = start + 2 * trip + think + turn * slot, 1000 * server + number
            if server < lost + 2 and number >= packets - 4:
                time = start + 0.2 + (packets * servers) * slot + (number - packets + 4) * 3 * trip
                identification += 4  # the lost packets had the four numbers before
            seq = 1 + number * _MSS
            capture.add(time, (server, 1), (seq, 65), _MSS, _ACK, identification if counted else 0)
            capture.add(time + 1e-6, (1, server), (65, seq + _MSS), 0, _ACK)
    return capture
