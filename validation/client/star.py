"""A star of network namespaces: servers, a bridge, and a client behind a bottleneck.

Everything is in namespaces of the process that builds it, and disappears with it. `inside` starts
a command in such namespaces, without root where the kernel allows user namespaces.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLIENT, SWITCH = "client", "switch"
RATE, BUFFER = "100mbit", 32768
"""The bottleneck towards the client: its rate, and its buffer in bytes."""
SLOW, DEEP = "10mbit", 1 << 20
"""Of a server's own link, where the client's is no bottleneck, and where nothing is lost."""
CONTROL = "cubic"
HEADERS, PAYLOAD = 66, 1448
"""Bytes of a full packet on the wire: Ethernet, IP, TCP and timestamps, then data."""
BURST = 3028  # bytes that tbf sends at once: two full packets
SETTINGS = {
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv4/tcp_no_metrics_save": "1",
}
TSO, GSO, GRO, RX, TX, SG = 0x1F, 0x24, 0x2C, 0x15, 0x17, 0x19  # ETHTOOL_S… of linux/ethtool.h
SIOCETHTOOL, CLONE_NEWNET = 0x8946, 0x40000000


def missing() -> str | None:
    """Return what this machine lacks for a star, or None."""
    for tool in ("unshare", "ip", "tc"):
        if shutil.which(tool) is None:
            return f"no {tool} here"
    tried = subprocess.run(
        _unshared(
            [
                "sh",
                "-c",
                "ip link add br0 type bridge && tc qdisc add dev br0 root bfifo limit 1500",
            ]
        ),
        capture_output=True,
        check=False,
        timeout=20,
    )
    if tried.returncode:
        return f"no user namespaces here: {tried.stderr.decode().strip()[:80]}"
    return None


def inside(command: Sequence[str], **options: float) -> subprocess.CompletedProcess[str]:
    """Run a command in new namespaces, in which it can build a star; its children end with it."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        _unshared(command), capture_output=True, text=True, check=False, **options
    )


def _unshared(command: Sequence[str]) -> list[str]:
    return ["unshare", "-Urnm", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *command]


def address(server: int) -> str:
    """Return the address of a server, from 0; that of the client is 10.0.0.1."""
    return f"10.0.1.{server + 1}"


def build(servers: int, *, slow_servers: bool = False) -> None:
    """Build the star: namespaces `client`, `switch`, and `s0`, `s1`, …

    With slow servers, the link of each has `SLOW`, and that of the client is not limited.
    """
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    names = [CLIENT, *(f"s{number}" for number in range(servers))]
    _ip([f"netns add {name}" for name in (SWITCH, *names)])
    _ip(
        [
            f"link add eth0 netns {name} address {_mac(place)} type veth "
            f"peer name p{place} netns {SWITCH}"
            for place, name in enumerate(names)
        ]
    )
    ports = [f"link set p{place} master bridge up" for place in range(len(names))]
    bridge = "link add bridge type bridge stp_state 0 mcast_snooping 0"
    _ip([bridge, "link set bridge up", *ports], SWITCH)
    for place, name in enumerate(names):
        with within(name):
            _set_up(place, servers)
    with within(SWITCH):
        for place in range(len(names)):
            _offloads_off(f"p{place}")
        if not slow_servers:
            _limit("p0", RATE, BUFFER)
    for number in range(servers if slow_servers else 0):
        with within(f"s{number}"):
            _limit("eth0", SLOW, DEEP)


@contextmanager
def within(name: str) -> Iterator[None]:
    """Put this thread into a namespace of the star; sockets opened there stay there."""
    with Path("/proc/thread-self/ns/net").open() as before:
        _enter(Path("/run/netns", name))
        try:
            yield
        finally:
            _set_namespace(before.fileno())


def timeouts(servers: int) -> int:
    """Return the retransmission timeouts of all servers so far."""
    total = 0
    for number in range(servers):
        with within(f"s{number}"):
            lines = Path("/proc/thread-self/net/netstat").read_text().splitlines()
        names, values = (line.split() for line in lines[:2])
        total += int(values[names.index("TCPTimeouts")])
    return total


def _set_up(place: int, servers: int) -> None:
    for key, value in SETTINGS.items():
        Path("/proc/sys/net", key).write_text(value)
    _offloads_off("eth0")
    mine = "10.0.0.1" if place == 0 else address(place - 1)
    others = range(1, servers + 1) if place == 0 else [0]
    known = [
        f"neigh add {address(other - 1) if other else '10.0.0.1'} lladdr {_mac(other)} "
        "dev eth0 nud permanent"
        for other in others
    ]
    up = ["link set lo up", f"addr add {mine}/32 dev eth0", "link set eth0 up"]
    # A route may name any congestion control; the sysctl of a new namespace may not.
    _ip([*up, *known, f"route add 10.0.0.0/16 dev eth0 src {mine} congctl {CONTROL}"])


def _limit(port: str, rate: str, limit: int) -> None:
    root = f"dev {port} root handle 1: tbf rate {rate} burst {BURST} limit {limit}"
    child = f"dev {port} parent 1:1 handle 10: bfifo limit {limit}"
    for queue in (root, child):
        subprocess.run(["tc", "qdisc", "add", *queue.split()], check=True)


def _offloads_off(device: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in (TSO, GSO, GRO, RX, TX, SG):
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", device.encode(), ctypes.addressof(value))
            fcntl.ioctl(control, SIOCETHTOOL, request)


def _mac(place: int) -> str:
    return f"02:00:00:00:00:{place:02x}"


def _ip(lines: Sequence[str], namespace: str = "") -> None:
    where = ["-n", namespace] if namespace else []
    subprocess.run(["ip", *where, "-batch", "-"], input="\n".join(lines), text=True, check=True)


def _enter(path: Path) -> None:
    with path.open() as namespace:
        _set_namespace(namespace.fileno())


def _set_namespace(descriptor: int) -> None:
    # os.setns came with Python 3.12.
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
