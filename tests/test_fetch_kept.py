"""Reused connections: data that a server sent unrequested are not the next request's answer."""

import asyncio
from contextlib import suppress

import pytest

pytest.importorskip("aiohttp")

from incast.client import Governor, HttpPiece, HttpReader, Plan, read

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"


class Server:
    """Answers with the number of the connection, and then sends unrequested data.

    With `at_once`, the server sends these data together with the answer.
    """

    def __init__(self, unasked: bytes, at_once: bool) -> None:
        self.unasked, self.at_once = unasked, at_once
        self.connections = 0
        self.sent = asyncio.Event()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        own = b"<%d>" % self.connections
        with suppress(OSError, EOFError):
            while await reader.readuntil(b"\r\n\r\n"):
                answer = HEAD + own
                if self.at_once:
                    writer.write(answer + self.unasked)
                else:
                    writer.write(answer)
                    await writer.drain()
                    await asyncio.sleep(0.05)  # send the data after the answer has been read
                    writer.write(self.unasked)
                await writer.drain()
                self.sent.set()
        writer.close()


def answers(unasked: bytes, *, at_once: bool = False) -> tuple[list[bytes | None], int]:
    """Return the results of two successive reads, and the number of their connections."""

    async def run() -> tuple[list[bytes | None], int]:
        kept = Server(unasked, at_once)
        server = await asyncio.start_server(kept.talk, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        governor = Governor(Plan.fixed(1, None))
        found: list[bytes | None] = []
        async with HttpReader(governor) as reader:
            for name in "ab":
                summary = await read([HttpPiece(f"{address}/{name}")], reader, governor, timeout=5)
                found += [outcome.data for outcome in summary.outcomes]
                await kept.sent.wait()
                await asyncio.sleep(0.05)
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0.05)  # wait until the connections have ended
        return found, kept.connections

    return asyncio.run(run())


@pytest.mark.parametrize("unasked", [HEAD + b"bad", b"no HTTP\r\n"])
def test_a_connection_that_brought_more_is_not_used_again(unasked: bytes) -> None:
    assert answers(unasked) == ([b"<1>", b"<2>"], 2)


@pytest.mark.parametrize("end", [1, 9, 17, 27, -2])
@pytest.mark.parametrize("at_once", [False, True])
def test_nor_is_one_that_brought_a_part_of_a_head(end: int, at_once: bool) -> None:
    assert answers(HEAD[:end], at_once=at_once) == ([b"<1>", b"<2>"], 2)


def test_any_other_is() -> None:
    assert answers(b"") == ([b"<1>", b"<1>"], 1)
