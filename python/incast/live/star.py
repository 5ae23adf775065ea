"""A star of real hosts: veth links join the hosts' namespaces to the namespace of the switch."""

import fcntl
import os
import socket
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from incast._core import Namespace
from incast.live.namespaces import batch, inside, sysctl, without_ipv6
from incast.live.stack import Stack

_SIOCETHTOOL = 0x8946
# ETHTOOL_S…: receive and transmit checksums, scatter-gather, TSO, GSO, GRO. With these offloads,
# frames would be longer than on a line, or would have no checksums.
_OFFLOADS = (0x15, 0x17, 0x19, 0x1F, 0x24, 0x2C)
_UPLINK = "eth0"


def address(host: int) -> str:
    """Return the IPv4 address of a host; clients have the first numbers."""
    return f"10.77.{(host + 1) // 256}.{(host + 1) % 256}"


def _mac(host: int) -> str:
    return f"02:00:00:00:{host // 256:02x}:{host % 256:02x}"


def _port(host: int) -> str:
    return f"host{host}"


@dataclass(frozen=True)
class Ends:
    """The numbers of the hosts that are the client and the servers of a read."""

    client: int
    servers: Sequence[int]


class Star:
    """Hosts around a switch; they exist until the end of the `with` block or of the process.

    Parameters
    ----------
    hosts
        Number of hosts; the clients come first.
    stack
        The settings of TCP at the hosts.
    ends
        The client and the servers.
    """

    def __init__(self, hosts: int, stack: Stack, ends: Ends) -> None:
        self.hosts = [Namespace() for _ in range(hosts)]
        self.switch = Namespace()
        self.stack = stack
        with inside(self.switch):
            without_ipv6()
        place = f"/proc/{os.getpid()}/fd/{self.switch.descriptor}"
        for number, host in enumerate(self.hosts):
            others = ends.servers if number == ends.client else [ends.client]
            with inside(host):
                self._settle(number, place, others)
        with inside(self.switch):
            batch([f"link set {_port(number)} up" for number in range(hosts)])
            for number in range(hosts):
                _offloads_off(_port(number))
            self.interfaces = [socket.if_nametoindex(_port(number)) for number in range(hosts)]

    def _settle(self, number: int, switch: str, others: Sequence[int]) -> None:
        """Set up link, addresses and settings of a host from within its namespace."""
        without_ipv6()
        for key, value in self.stack.sysctls.items():
            sysctl(f"ipv4/{key}", value)
        peer = f"type veth peer name {_port(number)} netns {switch}"
        batch(
            [
                "link set lo up",
                f"link add {_UPLINK} address {_mac(number)} {peer}",
                f"link set {_UPLINK} up",
                f"addr add {address(number)}/16 dev {_UPLINK} noprefixroute",
                f"route add 10.77.0.0/16 dev {_UPLINK} {self.stack.route}",
                *(
                    f"neigh add {address(other)} lladdr {_mac(other)} dev {_UPLINK} nud permanent"
                    for other in others
                ),
            ]
        )
        _offloads_off(_UPLINK)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the star; the kernel removes namespaces that no process holds, and their links."""
        self.hosts = []
        del self.switch


def _offloads_off(interface: str) -> None:
    """Switch off the offloads of an interface in this thread's namespace.

    Its frames then have the lengths and checksums that they have on a wire.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _OFFLOADS:
            value = array("I", [command, 0])
            request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
            fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
