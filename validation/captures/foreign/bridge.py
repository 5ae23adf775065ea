"""Real hosts around a switch of the kernel: a bridge, with a token bucket at the client's port.

The switch of `incast.live` is a program that forwards frames at the rate of a line. Here, the
kernel forwards the frames, with or without the offloads of its interfaces.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from array import array
from dataclasses import dataclass

from incast._core import FIRST_PORT, Namespace
from incast.live.namespaces import batch, executed, inside, sysctl, without_ipv6

_SIOCETHTOOL = 0x8946
_OFFLOADS = (0x1F, 0x24, 0x2C)  # ETHTOOL_STSO, SGSO, SGRO
_BURST = 3100  # depth of the client's token bucket in bytes: two frames
_BUCKET = 10_000  # depth of a policer's token bucket in bytes
_POLICED = 3100  # bytes that may wait in a policer: only two frames


@dataclass(frozen=True)
class Settings:
    """The settings of the hosts and the network.

    `lane` is the impairment of the first server's link: none, a policer (with the rate `lane_rate`
    in bit/s), or a small MTU (`mtu`) that is not announced.
    """

    servers: int
    rate: int
    buffer: int
    offloaded: bool
    timestamps: bool
    selective: bool
    probes: bool
    lane: str = ""
    lane_rate: int = 0
    mtu: int = 1500


def address(host: int) -> str:
    """Return the address of a host; host 0 is the client."""
    return f"10.88.0.{host + 1}"


def place(host: int) -> tuple[str, int]:
    """Return the address and the port at which a server listens."""
    return address(host), FIRST_PORT + host - 1


class Bridge:
    """The hosts and their switch; the kernel removes them when this object no longer exists."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.hosts = [Namespace() for _ in range(settings.servers + 1)]
        self.switch, self.lane = Namespace(), Namespace()
        for namespace in (self.switch, self.lane):
            with inside(namespace):
                without_ipv6()
                batch(["link set lo up", "link add middle type bridge", "link set middle up"])
        for number, host in enumerate(self.hosts):
            laned = settings.lane and number == 1
            self._join(host, "eth0", self.lane if laned else self.switch, f"host{number}")
            with inside(host):
                self._settle(number)
        if settings.lane:
            self._join(self.lane, "far", self.switch, "lane")
            with inside(self.lane):
                batch(["link set far master middle"])
                self._impair()
        with inside(self.switch):
            bucket = f"tbf rate {settings.rate}bit burst {_BURST} limit {settings.buffer}"
            executed("tc", f"qdisc add dev host0 root {bucket}".split(), lines=False)

    def _join(self, one: Namespace, name: str, other: Namespace, port: str) -> None:
        """Link namespace `one` to namespace `other`; there the link is a port of the bridge."""
        there = f"/proc/{os.getpid()}/fd/{other.descriptor}"
        with inside(one):
            batch([f"link add {name} type veth peer name {port} netns {there}"])
            batch([f"link set {name} up"])
            _offloads(name, on=self.settings.offloaded)
        with inside(other):
            batch([f"link set {port} master middle", f"link set {port} up"])
            _offloads(port, on=self.settings.offloaded)

    def _settle(self, number: int) -> None:
        without_ipv6()
        told = self.settings
        sysctl("ipv4/tcp_timestamps", int(told.timestamps))
        sysctl("ipv4/tcp_sack", int(told.selective))
        sysctl("ipv4/tcp_early_retrans", 3 * told.probes)
        sysctl("ipv4/tcp_no_metrics_save", 1)
        batch(["link set lo up", f"addr add {address(number)}/24 dev eth0"])

    def _impair(self) -> None:
        told = self.settings
        if told.lane == "policer":
            bucket = f"tbf rate {told.lane_rate}bit burst {_BUCKET} limit {_POLICED}"
            executed("tc", f"qdisc add dev far root {bucket}".split(), lines=False)
        else:
            batch([f"link set far mtu {told.mtu}"])

    def cut(self, *, off: bool) -> None:
        """Turn the switch off, or on again."""
        with inside(self.switch):
            batch([f"link set middle {'down' if off else 'up'}"])

    def at(self, view: str) -> tuple[Namespace, str, list[str]]:
        """Return the namespace, the interface and the direction of a view's capture."""
        return {
            "client": (self.hosts[0], "eth0", []),
            "switch": (self.switch, "any", ["-Q", "in"]),
            "any": (self.switch, "any", []),
            "server:0": (self.hosts[1], "eth0", []),
        }[view]


def _offloads(interface: str, *, on: bool) -> None:
    """Turn the segmentation and receive offloads of an interface on or off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _OFFLOADS:
            value = array("I", [command, on])
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
