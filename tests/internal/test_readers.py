"""Reads from local servers; some of the reads fail."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from aiohttp import web

from incast.client import Governor, Plan
from incast.client.http import HttpPiece, HttpReader
from incast.client.piece import Piece, Write
from incast.client.read import Progress, read
from incast.client.summary import Summary
from incast.client.tcp import TcpPiece, TcpReader

OBJECT = bytes(number % 251 for number in range(40_000))


class Server:
    """Serves `/object`, and errors at other paths. Counts requests in total and at one time."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.most = self._now = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        if request.method == "HEAD":
            return web.Response()
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            return await self._answer(request)
        finally:
            self._now -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.002)
        if request.path == "/missing":
            return web.Response(status=404)
        if request.path == "/slow":
            await asyncio.sleep(30)
        if request.path == "/busy" and self.requests.count("GET /busy") < 3:
            return web.Response(status=503)
        if request.path == "/cut":
            cut = web.StreamResponse(headers={"Content-Length": "40000"})
            await cut.prepare(request)
            await cut.write(OBJECT[:100])
            assert request.transport is not None
            request.transport.abort()
            return cut
        wanted = request.http_range
        if request.path == "/whole" or wanted == slice(None, None, 1):
            return web.Response(body=OBJECT)
        body = OBJECT[wanted]
        last = wanted.start + len(body) - 1
        told = f"bytes {wanted.start}-{last}/{len(OBJECT)}"
        return web.Response(status=206, body=body, headers={"Content-Range": told})


async def served(scene: Callable[[str, Server], Awaitable[None]]) -> None:
    server = Server()
    runner = web.ServerRunner(web.Server(server.handle), shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        await scene(f"http://{host}:{port}", server)
    finally:
        await runner.cleanup()


async def read_http(pieces: list[HttpPiece], plan: Plan | None = None, **options: float) -> Summary:
    governor = Governor(plan or Plan.fixed(2))
    async with HttpReader(governor) as reader:
        return await read(pieces, reader, governor, **options)  # type: ignore[arg-type]


def test_objects_and_ranges_arrive_whole_and_k_at_a_time() -> None:
    async def scene(base: str, server: Server) -> None:
        ranges = [(0, 10), (39_990, None), (5, 30_000)]
        pieces = [HttpPiece(f"{base}/object", *it) for it in ranges]
        pieces += [HttpPiece(f"{base}/object")] * 6
        summary = await read_http(pieces)
        assert not summary.failed
        wanted = [OBJECT[slice(*it)] for it in ranges] + [OBJECT] * 6
        assert [it.data for it in summary.outcomes] == wanted
        assert server.most == 2
        assert summary.received == sum(map(len, wanted))
        assert summary.goodput_bps == pytest.approx(8 * summary.received / summary.seconds)
        slowest = summary.slowest
        assert slowest is not None
        assert slowest.sample is not None
        assert slowest.sample.seconds == max(
            it.sample.seconds for it in summary.outcomes if it.sample
        )

    asyncio.run(served(scene))


def test_errors_of_one_server_do_not_stop_the_others() -> None:
    async def scene(base: str, server: Server) -> None:
        nowhere = "http://127.0.0.1:1/object"
        names = [f"{base}/missing", f"{base}/cut", f"{base}/object", f"{base}/slow", nowhere]
        summary = await read_http([HttpPiece(name) for name in names], timeout=0.5)
        missing, cut, whole, slow, none = summary.outcomes
        assert missing.error == "the server answers 404 Not Found"
        assert cut.error == "the answer ended early"
        assert (whole.error, whole.data) == (None, OBJECT)
        assert slow.error == "not read in 0.5 s"
        assert none.error is not None
        assert "127.0.0.1:1" in none.error
        assert [it.name for it in summary.failed] == [names[0], names[1], names[3], names[4]]
        assert summary.received == len(OBJECT)

    asyncio.run(served(scene))


def test_what_may_pass_is_tried_again_and_what_is_final_is_not() -> None:
    async def scene(base: str, server: Server) -> None:
        pieces = [HttpPiece(f"{base}/{name}") for name in ("busy", "missing")]
        pieces.append(HttpPiece(f"{base}/whole", 5, 10))
        summary = await read_http(pieces, retries=3)
        busy, missing, whole = summary.outcomes
        assert (busy.error, busy.attempts, busy.data) == (None, 3, OBJECT)
        assert missing.attempts == whole.attempts == 1
        assert whole.error == "the server answers 200: it does not serve ranges"
        assert server.requests.count("GET /missing") == 1

    asyncio.run(served(scene))


def test_early_connections_are_those_on_which_the_answers_come() -> None:
    async def scene(base: str, server: Server) -> None:
        plan = Plan.ocs(1, trigger=1000)
        summary = await read_http([HttpPiece(f"{base}/object")] * 3, plan)
        assert not summary.failed
        assert server.requests[:3] == ["HEAD /object"] * 3
        assert server.most <= 2

    asyncio.run(served(scene))


def test_an_address_that_is_none_is_named() -> None:
    outcome = asyncio.run(read_http([HttpPiece("nonsense")], retries=2)).outcomes[0]
    assert outcome.error == "is not an address; must be http://… or https://…"
    assert outcome.attempts == 1


def test_a_server_that_is_not_there_is_named_in_plain_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    outcome = asyncio.run(read_http([HttpPiece(f"http://127.0.0.1:{port}/x")])).outcomes[0]
    assert outcome.error == f"no connection to 127.0.0.1:{port}: Connection refused"


def test_a_reader_has_to_be_entered() -> None:
    async def scene() -> None:
        governor = Governor()
        async with governor.slot() as slot:
            await HttpReader(governor).fetch(HttpPiece("http://localhost"), slot, print)

    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(scene())


class Talker:
    """Answers each line with the stated number of bytes; `cut` sends fewer bytes, `long` more."""

    def __init__(self) -> None:
        self.tasks: list[asyncio.Task[None]] = []

    def start(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.append(asyncio.create_task(self._talk(reader, writer)))

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while line := (await reader.readline()).decode().strip():
                if line == "wait":
                    await reader.read()
                if line in {"long", "cut"}:
                    writer.write(OBJECT[: 10 if line == "cut" else None])
                if not line.isdigit():
                    break
                writer.write(OBJECT[: int(line)])
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()


def ask(port: int, line: str, size: int | None) -> TcpPiece:
    return TcpPiece("127.0.0.1", port, f"{line}\n".encode(), size)


async def spoken(
    make: Callable[[int], list[TcpPiece]], plan: Plan | None = None, **options: float
) -> Summary:
    governor, talker = Governor(plan or Plan.fixed(2)), Talker()
    async with await asyncio.start_server(talker.start, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with TcpReader(governor) as reader:
            summary = await read(make(port), reader, governor, **options)  # type: ignore[arg-type]
            await read(make(port)[:1], reader, governor)  # on an existing connection
        await asyncio.gather(*talker.tasks)
    return summary


@pytest.mark.parametrize("plan", [Plan.fixed(2), Plan.ocs(2, trigger=100)])
def test_answers_by_plain_tcp_of_known_size_or_until_the_end(plan: Plan) -> None:
    def pieces(port: int) -> list[TcpPiece]:
        return [ask(port, "40000", 40_000), ask(port, "1\nend", None), ask(port, "7", 7)]

    summary = asyncio.run(spoken(pieces, plan))
    assert [it.error for it in summary.outcomes] == [None] * 3
    assert [it.data for it in summary.outcomes] == [OBJECT, OBJECT[:1], OBJECT[:7]]


def test_what_goes_wrong_by_plain_tcp_has_its_line() -> None:
    def pieces(port: int) -> list[TcpPiece]:
        lines = [("cut", 40), ("long", 9), ("wait", 1), ("5", 5)]
        return [*(ask(port, *it) for it in lines), TcpPiece("127.0.0.1", 1, b"", 1)]

    cut, long, wait, good, none = asyncio.run(spoken(pieces, timeout=0.4)).outcomes
    assert cut.error == "the server closed the connection with 30 bytes missing"
    assert long.error == "the answer is longer than 9 bytes"
    assert wait.error == "not read in 0.4 s"
    assert (good.error, good.data) == (None, OBJECT[:5])
    assert none.error == "cannot connect: Connect call failed ('127.0.0.1', 1)"


def test_progress_tells_of_every_piece() -> None:
    async def scene(base: str, server: Server) -> None:
        governor, seen = Governor(), list[Progress]()
        pieces = [HttpPiece(f"{base}/{name}") for name in ("object", "missing", "object")]
        async with HttpReader(governor) as reader:
            await read(pieces, reader, governor, progress=seen.append)
        assert [(it.done, it.total) for it in seen] == [(1, 3), (2, 3), (3, 3)]
        assert seen[-1].received >= 2 * len(OBJECT)

    asyncio.run(served(scene))


def test_a_target_that_cannot_be_written_fails_that_piece_only() -> None:
    @contextmanager
    def target(piece: Piece) -> Iterator[Write]:
        if piece.name.endswith("object"):
            raise OSError(28, "No space left on device")
        yield lambda _: None

    async def scene(base: str, server: Server) -> None:
        governor = Governor()
        pieces = [HttpPiece(f"{base}/{name}") for name in ("object", "whole")]
        async with HttpReader(governor) as reader:
            summary = await read(pieces, reader, governor, target=target, retries=2)
        full, fine = summary.outcomes
        assert (full.error, full.attempts) == ("cannot be written: No space left on device", 1)
        assert (fine.error, fine.data) == (None, None)

    asyncio.run(served(scene))
