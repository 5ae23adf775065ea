"""The client's traffic on real hosts: a barrier-synchronised read, and long flows."""

import random
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from incast._core import FIRST_PORT, Namespace
from incast.client.window import hold, prepare
from incast.live.counters import Connection
from incast.live.loop import Loop, hurried, writable
from incast.live.namespaces import inside
from incast.live.server import ENDLESS, REQUEST, Server
from incast.live.stack import Stack
from incast.live.star import address
from incast.scenario.resolved import Resolved

_READ = 1 << 18
_LONG = 10  # a stall lasts longer than this many base round trips, as in the simulation


@dataclass
class Summary:
    """The client's measurements.

    Parameters
    ----------
    finished
        Whether the workload was finished.
    bytes, elapsed
        Bytes of complete blocks, or all bytes of long flows; seconds from the start to the end.
    completions
        Seconds of each block.
    fairness
        Jain's index of the servers' goodputs, mean over the blocks.
    stalls
        Seconds of each interval without data.
    """

    finished: bool = False
    bytes: int = 0
    elapsed: float = 0.0
    completions: list[float] = field(default_factory=list)
    fairness: float | None = None
    stalls: list[float] = field(default_factory=list)


class Reader(Protocol):
    """The client's application of a run."""

    connections: Sequence[Connection]
    """The kernel's state of the servers' connections after the run."""

    def run(self, limit: float) -> Summary:
        """Run the application for at most `limit` seconds."""


class _Part:
    """A connection of the client, and the bytes that it still has to receive."""

    def __init__(self, client: "Client", flow: int) -> None:
        self.client, self.flow = client, flow
        self.missing = 0
        self.got = 0
        self.wanted: int | None = None  # size of a request that waits for the connection
        self.connected = False
        self.is_new = True  # no data have arrived on the connection
        self.socket: socket.socket | None = None

    def open(self) -> bool:
        """Open a connection if there is none; return whether a connection was opened."""
        if self.socket is not None:
            return False
        self.connected, self.is_new = False, True
        self.socket = one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        one.setblocking(False)
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        prepare(one, self.client.stack.first_window)
        one.connect_ex((address(self.client.servers[self.flow]), FIRST_PORT + self.flow))
        self.client.loop.add(one, self.serve, writes=True)
        return True

    def ask(self, size: int) -> None:
        """Request bytes; open a connection if there is none."""
        self.missing, self.wanted = min(size, ENDLESS), size
        if not self.open() and self.connected:
            self.request()

    def request(self) -> None:
        """Send the request."""
        if self.socket is not None and self.wanted is not None:
            self.socket.send(REQUEST.pack(self.wanted))
            self.wanted = None

    def serve(self, events: int) -> None:
        """Send a waiting request when the connection has opened; read data."""
        if self.socket is None:
            return
        if not self.connected and writable(events):
            self.connected = True
            self.client.loop.watch(self.socket, writes=False)
            self.request()
        try:
            length = self.socket.recv_into(self.client.buffer)
        except BlockingIOError:
            return
        if self.is_new:
            self.is_new = False
            hold(self.socket, self.client.stack.receive_window)
        self.got += length
        self.missing -= length
        self.client.on_data(self)

    def close(self) -> None:
        """End the connection."""
        if self.socket is not None:
            self.client.loop.remove(self.socket)
            self.socket = None


class Client:
    """The client and the servers of one run, on one thread.

    Parameters
    ----------
    here
        The scenario.
    hosts, pairs
        The namespaces of the hosts, and the server and the client of every flow.
    stack
        The settings of TCP at the hosts.
    seed
        Seed of the random times of requests.
    cancelled
        Function that returns whether the run should end now.
    """

    def __init__(
        self,
        here: Resolved,
        hosts: Sequence[Namespace],
        pairs: Sequence[tuple[int, int]],
        stack: Stack,
        seed: int,
        cancelled: Callable[[], bool],
    ) -> None:
        self.here, self.stack, self.cancelled = here, stack, cancelled
        self.home = hosts[pairs[0][1]]
        self.servers = [server for server, _ in pairs]
        self.loop = Loop()
        self.answering = [
            Server(self.loop, hosts[server], server, flow) for flow, (server, _) in enumerate(pairs)
        ]
        self.parts = [_Part(self, flow) for flow in range(len(pairs))]
        self.random = random.Random(seed)  # noqa: S311 (times of requests)
        self.buffer = bytearray(_READ)
        self.summary = Summary()
        self.left = 0  # parts of the block that are not complete
        self.ends: list[float] = []  # times at which parts of the block became complete
        self.block_start = self.last = 0.0
        self.connections: Sequence[Connection] = []

    def run(self, limit: float) -> Summary:
        """Run the workload for at most `limit` seconds."""
        with inside(self.home), hurried(), self.loop:
            start = time.monotonic()
            if self.here.reads:
                self.read(start, start + limit)
            else:
                self.flood(start, start + limit)
            self.connections = [one for server in self.answering for one in server.connections()]
        return self.summary

    def read(self, start: float, end: float) -> None:
        """Read block after block."""
        workload = self.here.workload
        blocks, duration = workload.get("blocks"), self.here.facts["duration_s"]
        indices: list[float] = []
        while len(self.summary.completions) != blocks:
            now = time.monotonic()
            if duration is not None and now >= start + duration:
                break
            if not self.read_block(now, end):
                return
            done = time.monotonic()
            rates = [1 / max(at - self.block_start, 1e-9) for at in self.ends]
            indices.append(sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates)))
            self.summary.completions.append(done - self.block_start)
            self.summary.bytes += sum(self.sizes())
            self.summary.elapsed = done - start
            self.summary.fairness = sum(indices) / len(indices)
        self.summary.finished = True

    def sizes(self) -> list[int]:
        """Return the bytes that each server sends for a block."""
        count, block = self.here.servers, self.here.block
        if block is None:
            return [self.here.sru] * count
        return [block // count + (flow < block % count) for flow in range(count)]

    def read_block(self, start: float, end: float) -> bool:
        """Read one block; return whether it was complete before `end`."""
        self.block_start = self.last = start
        self.left, self.ends = len(self.parts), []
        if self.here.workload.get("handshakes") == "before":
            for part in self.parts:
                part.open()
            while not all(part.connected for part in self.parts):
                if self.is_over(end):
                    return False
                self.loop.wait(end)
            start = time.monotonic()
        steps = self.steps(start)
        while self.left:
            now = time.monotonic()
            while steps and steps[-1][0] <= now:
                _, flow, size = steps.pop()
                if size is None:
                    self.parts[flow].open()
                else:
                    self.parts[flow].ask(size)
            if self.is_over(end):
                return False
            self.loop.wait(steps[-1][0] if steps else end)
        if self.here.fresh:
            for part in self.parts:
                part.close()
        return True

    def steps(self, start: float) -> list[tuple[float, int, int | None]]:
        """Draw random times for opening connections and for requests, the last time first.

        A step is a time, a flow, and the number of bytes to request; if the number is None, the
        step only opens the connection.
        """
        facts, at = self.here.facts, start
        early = self.here.workload.get("handshakes") != "before" and facts["request_spread_s"] > 0
        steps: list[tuple[float, int, int | None]] = []
        for flow, size in enumerate(self.sizes()):
            if flow > 0:
                at += self.random.uniform(0, self.here.request_jitter)
            opened = at + self.random.uniform(0, facts["start_spread_s"])
            if early:
                steps.append((opened, flow, None))
            later = facts["request_spread_s"] and self.random.uniform(0, facts["request_spread_s"])
            steps.append((opened + later, flow, size))
        return sorted(steps, key=lambda it: (it[0], it[1], it[2] is not None), reverse=True)

    def is_over(self, end: float) -> bool:
        """Return whether the time is up or the run is cancelled."""
        return time.monotonic() >= end or self.cancelled()

    def flood(self, start: float, end: float) -> None:
        """Let all servers send until the duration is over."""
        finish = start + (self.here.facts["duration_s"] or 0.0)
        self.last = start
        for part in self.parts:
            part.ask(ENDLESS)
        while (now := time.monotonic()) < min(finish, end) and not self.cancelled():
            self.loop.wait(min(finish, end))
        got = [part.got for part in self.parts]
        squares = sum(one**2 for one in got)
        self.summary = Summary(
            finished=now >= finish,
            bytes=sum(got),
            elapsed=now - start,
            fairness=sum(got) ** 2 / (len(got) * squares) if squares else None,
            stalls=self.summary.stalls,
        )

    def on_data(self, part: _Part) -> None:
        """Record data that have arrived."""
        now = time.monotonic()
        if now - self.last > _LONG * self.here.base_rtt:
            self.summary.stalls.append(now - self.last)
        self.last = now
        if part.missing == 0:
            self.left -= 1
            self.ends.append(now)
