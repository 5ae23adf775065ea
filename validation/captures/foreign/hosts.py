"""Hosts of the small network, their connections, and the counters for IP identifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.captures.foreign.end import End
from validation.captures.foreign.packet import as_ipv6
from validation.captures.foreign.stacks import BEHIND_NAT, PER_CONNECTION, VERSION_6, Counter

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.captures.foreign.network import Network, Process
    from validation.captures.foreign.stacks import Stack

CLIENT = "192.0.2.10"
_PORTS = 32768


class Hosts:
    """The client and its servers, with their stacks and counters."""

    def __init__(self, network: Network, client: Stack, servers: Stack) -> None:
        self.network, self.client, self.servers = network, client, servers
        self.version6 = VERSION_6 in (client.numbering, servers.numbering)
        self.reader = self.named(CLIENT)
        self._counters: dict[str, Counter] = {}
        self._port = _PORTS + network.random.randrange(16384)
        self.pairs: list[tuple[End, End]] = []

    def named(self, address: str) -> str:
        """Return a host's address as the capture shows it."""
        return as_ipv6(address) if self.version6 else address

    def server(self, number: int) -> str:
        """Return the address of a server."""
        return self.named(f"198.51.100.{10 + number}")

    def connect(
        self, server: int, port: int, stack: Stack | None = None, client: Stack | None = None
    ) -> tuple[End, End]:
        """Open a connection of the client; return both of its ends."""
        self._port += 1
        here, there = self.reader, self.server(server)
        mine, other = client or self.client, stack or self.servers
        one = End(self.network, mine, self._counter(here, mine), (here, self._port, there, port))
        two = End(self.network, other, self._counter(there, other), (there, port, here, self._port))
        self.pairs.append((one, two))
        one.connect()
        return one, two

    def run(self, client: Callable[[End], Process], server: Callable[[End], Process]) -> None:
        """Run a process at each end of the connection that was opened last."""
        one, two = self.pairs[-1]
        self.network.start(client(one))
        self.network.start(server(two))

    def _counter(self, host: str, stack: Stack) -> Counter:
        random = self.network.random
        if stack.numbering == PER_CONNECTION:
            return Counter(random, stack.numbering)
        key = "nat" if stack.numbering == BEHIND_NAT and host != self.reader else host
        return self._counters.setdefault(key, Counter(random, stack.numbering, stack.busy))
