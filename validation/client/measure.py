"""Measures the reads of several clients in a star; the clients read in turns.

`validation.client.star.apart` runs this command in new namespaces:

python -m validation.client.measure '{"servers": 16, "reads": 10, "clients": …}'

Prints a JSON object with the seconds and the timeouts of the reads of each client.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from incast.client import Governor, HttpPiece, HttpReader, Learner, Plan, read
from incast.live import counters
from incast.live.namespaces import inside
from validation.client.servers import nginx
from validation.client.star import built

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from incast.live.star import Star

SRU = 65536
"""Bytes of each answer."""
PLAIN = "plain"
AUTO = "auto"
SLOWEST = 10
"""The plain client does only this number of reads, because they take seconds."""


@dataclass
class Seen:
    """The reads of one client."""

    seconds: list[float] = field(default_factory=list)
    timeouts: list[int] = field(default_factory=list)
    plan: tuple[int, int] | None = None
    """Slots and window after the last read."""


def given(slots: int, window: int) -> str:
    """Return the name of a client with a given plan."""
    return f"{slots}x{window}"


async def measure(
    star: Star, urls: list[str], names: list[str], reads: int, skip: int
) -> dict[str, Seen]:
    """Let clients read in turns, so that a disturbance affects all clients."""
    seen = {name: Seen() for name in names}
    async with AsyncExitStack() as stack:
        clients = {name: await _client(stack, name, urls) for name in names}
        for number in range(-skip, reads):
            for name, (run, governor) in clients.items():
                if name == PLAIN and not -1 <= number < SLOWEST:
                    continue
                gc.collect()
                before = _timeouts(star)
                seconds = await run()
                if number >= 0:
                    seen[name].seconds.append(seconds)
                    seen[name].timeouts.append(_timeouts(star) - before)
                if governor is not None:
                    seen[name].plan = (governor.plan.slots, governor.plan.window or 0)
    return seen


def _timeouts(star: Star) -> int:
    return counters.count(star.hosts[1:])["TCPTimeouts"]


async def _client(
    stack: AsyncExitStack, name: str, urls: list[str]
) -> tuple[Callable[[], Awaitable[float]], Governor | None]:
    if name == PLAIN:
        connector = aiohttp.TCPConnector(limit=0)
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        return (lambda: _plain(session, urls)), None
    if name == AUTO:
        governor = Governor(Learner())
    else:
        slots, window = map(int, name.split("x"))
        governor = Governor(Plan.fixed(slots, window))
    reader = await stack.enter_async_context(HttpReader(governor))
    pieces = [HttpPiece(url) for url in urls]

    async def governed() -> float:
        summary = await read(pieces, reader, governor)
        assert not summary.failed, summary.failed[0].error
        return summary.seconds

    return governed, governor


async def _plain(session: aiohttp.ClientSession, urls: list[str]) -> float:
    """Request from all servers at once, like a program that does not avoid incast."""

    async def one(url: str) -> None:
        async with session.get(url) as answer:
            assert len(await answer.read()) == SRU

    start = time.monotonic()
    await asyncio.gather(*map(one, urls))
    return time.monotonic() - start


def main() -> None:
    """Build the star, start nginx, measure."""
    wish = json.loads(sys.argv[1])
    count = wish["servers"]
    with (
        built(count, roomy=wish.get("roomy", False)) as star,
        tempfile.TemporaryDirectory() as folder,
        nginx(star, Path(folder), SRU) as urls,
        inside(star.hosts[0]),
    ):
        names, reads = wish["clients"], wish["reads"]
        seen = asyncio.run(measure(star, urls, names, reads, wish.get("skip", 1)))
    json.dump({name: asdict(it) for name, it in seen.items()}, sys.stdout)


if __name__ == "__main__":
    main()
