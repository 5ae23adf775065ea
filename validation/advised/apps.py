"""Runs the client code that advice prints, in place of the client of `incast live`."""

from __future__ import annotations

import asyncio
import random
import socket
import textwrap
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from incast._core import FIRST_PORT
from incast.client import Governor, Plan
from incast.live.loop import hurried
from incast.live.namespaces import inside
from incast.live.star import address
from incast.live.traffic import Summary
from validation.advised.web import Answering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incast.live.counters import Connection
    from incast.live.star import Star
    from incast.scenario.resolved import Resolved

Printed = Callable[..., Awaitable[None]]
_EXAMPLE = "...  # ask one server, read its answer"
_OF_A_SLOT = "async with governor.slot()"
_OF_A_REQUEST = "  # seconds, before each request"
_CHUNK = 1 << 18
_SHORT = 2e-3  # seconds to wait without sleep before a due time: asyncio sleeps whole milliseconds


class Application:
    """Reads blocks by HTTP, in the client's namespace and in this thread.

    Parameters
    ----------
    here
        The scenario.
    star
        The hosts.
    seed
        Seed of the random request times.
    code
        The code that advice prints.
    """

    def __init__(self, here: Resolved, star: Star, seed: int, code: str) -> None:
        self.here, self.star, self.code = here, star, code
        self.random = random.Random(seed)
        self.summary = Summary()
        self.connections: Sequence[Connection] = ()

    def run(self, limit: float) -> Summary:
        """Read all blocks for at most `limit` seconds."""
        listening = []
        for number, host in enumerate(self.star.hosts[1:], start=1):
            with inside(host):
                listening.append(socket.create_server((address(number), _port(number)), backlog=64))
        with inside(self.star.hosts[0]), hurried():
            asyncio.run(self._within(limit, listening))
        return self.summary

    async def _within(self, limit: float, listening: Sequence[socket.socket]) -> None:
        loop = asyncio.get_running_loop()
        answering = partial(Answering, self.here.sru)
        servers = [await loop.create_server(answering, sock=one) for one in listening]
        try:
            await asyncio.wait_for(self._program()(self._blocks()), limit)
            self.summary.finished = True
        except TimeoutError:
            pass
        finally:
            for server in servers:
                server.close()

    def _blocks(self) -> Iterator[list[str]]:
        """Yield the addresses of each block; record how long the block takes."""
        hosts = range(1, len(self.star.hosts))
        start = time.monotonic()
        for _ in range(int(self.here.workload["blocks"])):
            begun = time.monotonic()
            yield [f"http://{address(number)}:{_port(number)}/piece" for number in hosts]
            done = time.monotonic()
            self.summary.completions.append(done - begun)
            self.summary.bytes += self.here.sru * len(hosts)
            self.summary.elapsed = done - start

    def _program(self) -> Callable[[Iterator[list[str]]], Awaitable[None]]:
        """Return a function that reads all blocks with the printed code."""
        code = self.code
        if "in blocks:" in code:
            return self._compiled(code, "blocks")
        if _OF_A_SLOT in code:
            setup, _, slot = code.partition(_OF_A_SLOT)
            given: dict[str, Any] = {}
            exec(setup, given)
            used = f"{_OF_A_SLOT}{slot}".replace(_EXAMPLE, "await answer(server)")
            return partial(_each, partial(_all, self._compiled(used, "server", **given)))
        if _OF_A_REQUEST in code:
            wait = self._compiled(code, "")
            return partial(_each, partial(self._at_once, wait))
        if "ask(server)" in code:
            return partial(_each, partial(_asking, partial(self._compiled, code)))
        return partial(_each, self._compiled(code, "urls"))

    def _compiled(self, code: str, argument: str, **given: Any) -> Printed:
        names = {"answer": answer, "governor": Governor(Plan.fixed(self.here.servers, window=None))}
        exec(
            f"async def printed({argument}):\n{textwrap.indent(code, '    ')}", names | given, names
        )
        printed: Printed = names["printed"]
        return printed

    async def _at_once(self, first: Printed, urls: Sequence[str]) -> None:
        """Run `first` and then a request for each server; `request_jitter` spreads the starts."""

        async def one(url: str) -> None:
            await first()
            await answer(url)

        async with asyncio.TaskGroup() as tasks:
            due = time.monotonic()
            for url in urls:
                tasks.create_task(one(url))
                due += self.random.uniform(0, self.here.request_jitter)
                await _until(due)


def _port(number: int) -> int:
    """Return the port of a server; the switch expects the server's answers from this port."""
    return FIRST_PORT + number - 1


async def _each(block: Callable[[list[str]], Awaitable[None]], blocks: Iterator[list[str]]) -> None:
    for urls in blocks:
        await block(urls)


async def _all(one: Callable[[str], Awaitable[None]], urls: Sequence[str]) -> None:
    async with asyncio.TaskGroup() as tasks:
        for url in urls:
            tasks.create_task(one(url))


async def _asking(compiled: Callable[..., Printed], urls: Sequence[str]) -> None:
    async with asyncio.TaskGroup() as tasks:
        ask = lambda url: tasks.create_task(answer(url))  # noqa: E731 (a name of the printed code)
        await compiled("servers", ask=ask)(urls)


async def answer(url: str) -> None:
    """Ask one server over a new connection, and read its answer."""
    host, _, path = url.removeprefix("http://").partition("/")
    name, port = host.split(":")
    reader, writer = await asyncio.open_connection(name, int(port), limit=_CHUNK)
    writer.write(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    while await reader.read(_CHUNK):
        pass
    writer.close()


async def _until(due: float) -> None:
    left = due - time.monotonic()
    if left > _SHORT:
        await asyncio.sleep(left - _SHORT)
    while time.monotonic() < due:
        await asyncio.sleep(0)
