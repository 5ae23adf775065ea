"""Data that the client must not report as complete, and must not show, wait for or remove."""

import asyncio
import os
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from inspect import signature
from pathlib import Path

import pytest
import servers
from certificates import of_localhost
from servers import OBJECT, answer, part, serving

from conftest import Command

pytest.importorskip("aiohttp")

import aiohttp

from incast.client import (
    Governor,
    HttpPiece,
    HttpReader,
    Outcome,
    Plan,
    TcpPiece,
    TcpReader,
    read,
    said,
)
from incast.client.files import places, sweep_up


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    chunk = b"3\r\nabc\r\n0\r\n\r\n"
    more = {
        "coded": answer("Transfer-Encoding: gzip", length=False),
        "coded-chunks": answer("Transfer-Encoding: gzip, chunked", body=chunk, length=False),
        "two-codings": answer("Content-Encoding: identity", "Content-Encoding: gzip"),
        "tag": lambda to, head: part(
            f"bytes {head['range'][6:]}/5000", OBJECT[:10], f'ETag: "{head["range"]}"'
        )(to, head),
        "grows": lambda to, head: part(
            f"bytes {head['range'][6:]}/{5000 + len(head['range'])}", OBJECT[:10]
        )(to, head),
    }
    for name, behaviour in more.items():
        monkeypatch.setitem(servers.BEHAVIOURS, name, behaviour)
    with serving() as address:
        yield address


def fetched(pieces: list[HttpPiece], **options: object) -> list[Outcome]:
    async def run() -> list[Outcome]:
        governor = Governor(Plan.fixed(1, None))
        async with HttpReader(governor) as reader:
            kept = {"timeout": 5.0, **options}
            return list((await read(pieces, reader, governor, **kept)).outcomes)  # type: ignore[arg-type]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("coded", "the answer is sent as gzip; must be chunked or plain"),
        ("coded-chunks", "the answer is sent as gzip, chunked; must be chunked or plain"),
        ("two-codings", "the answer is encoded (gzip); identity was asked for"),
    ],
)
def test_no_coding_is_stored_as_it_came(base: str, name: str, error: str) -> None:
    (outcome,) = fetched([HttpPiece(f"{base}/{name}/x")])
    assert (outcome.error, outcome.data) == (error, None)


@pytest.mark.parametrize("name", ["tag", "grows"])
def test_ranges_of_two_versions_are_not_mixed(base: str, name: str) -> None:
    url = f"{base}/{name}/x"
    first, other, again = fetched([HttpPiece(url, *it) for it in [(0, 10), (10, 20), (0, 10)]])
    assert (first.error, again.error) == (None, None)
    assert other.error == "the object has changed since its first range"


def test_a_read_that_is_stopped_before_it_begins_has_a_summary(base: str) -> None:
    async def run() -> list[str | None]:
        stop, governor = asyncio.Event(), Governor()
        stop.set()
        async with HttpReader(governor) as reader:
            pieces = [HttpPiece(f"{base}/silent/{number}") for number in range(3)]
            summary = await read(pieces, reader, governor, stop=stop)
        return [it.error for it in summary.outcomes]

    assert asyncio.run(run()) == ["interrupted"] * 3


def test_a_host_that_is_no_name_is_not_called_a_redirect() -> None:
    (outcome,) = fetched([HttpPiece(f"http://{'a' * 300}/")])
    assert outcome.error == "has an invalid host name"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://user:pw@[::1/", "http://[::1/"),
        ("user:pw@host/x", "host/x"),
        ("http://h/?n=1&code=zz", "http://h/?n=1&code=…"),
        ("http://u:p@h/\x1b[31m#token", "http://h/\\x1b[31m"),
    ],
)
def test_addresses_that_are_none_show_no_password_either(url: str, shown: str) -> None:
    assert said.address(url) == shown
    assert len(said.address(f"http://h/{'a' * 9000}")) <= said.LONGEST


def test_reasons_that_hold_an_address_show_no_secret() -> None:
    told = said.reason("no such place: http://user:pw@h/?part=1&sig=abc is odd")
    assert told == "no such place: http://h/?part=1&sig=… is odd"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://user:hunter2@host:99999/"], "http://host:99999/ is not an address"),
        ([f"http://{'a' * 300}/"], "is not an address; must be http"),
        (["http://a", "--range", f"0-{'9' * 5000}"], "is not a range; must be FIRST-LAST"),
        (["http://a", "--range", "٣-٤"], "is not a range; must be FIRST-LAST"),
    ],
)
def test_mistakes_are_one_short_line(command: Command, arguments: list[str], message: str) -> None:
    told = command("fetch", *arguments)
    assert (told.code, told.out) == (2, "")
    assert message in told.err
    assert "hunter2" not in told.err
    assert told.err.count("\n") == 1
    assert len(told.err) < 400


def test_only_our_own_partial_files_are_swept_up(tmp_path: Path) -> None:
    ours, mine = tmp_path / f".incast-{'0' * 16}.part", tmp_path / ".incast-notes.part"
    for file in (ours, mine):
        file.write_text("x")
    pipe, link = tmp_path / f".incast-{'1' * 16}.part", tmp_path / f".incast-{'2' * 16}.part"
    os.mkfifo(pipe)
    link.symlink_to(mine)
    sweep = threading.Thread(target=sweep_up, args=(tmp_path,), daemon=True)
    sweep.start()
    sweep.join(5)
    assert not sweep.is_alive(), "it waits for somebody to write into the pipe"
    assert sorted(tmp_path.iterdir()) == sorted([mine, pipe, link])


def test_an_object_is_never_called_as_a_partial_file_is(tmp_path: Path) -> None:
    name = f".incast-{'0' * 16}.part"
    pieces = [HttpPiece(f"http://h/{name}"), HttpPiece("http://h/%1b%5B31mx")]
    there = places(pieces, tmp_path, overwrite=False)
    assert [it.name for it in there.values()] == [f"_{name}", "_[31mx"]


def test_many_retries_have_a_bounded_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bound, the last pauses of 2 000 attempts would be too large for a float."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    class Never:
        async def connect(self, piece: HttpPiece) -> None: ...

        async def fetch(self, *_: object) -> None:
            raise ValueError("no")

    monkeypatch.setattr(asyncio, "sleep", pause)
    pieces = [HttpPiece("http://h/")]
    summary = asyncio.run(read(pieces, Never(), Governor(), retries=2000))
    assert (summary.outcomes[0].attempts, summary.outcomes[0].error) == (2001, "ValueError: no")
    assert (pauses[0], max(pauses)) == (0.1, 10.0)


def test_plain_tcp_answers_are_bounded_and_odd_hosts_are_named() -> None:
    async def run() -> list[str | None]:
        async def endless(_: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while True:
                    out.write(bytes(65_536))
                    await out.drain()

        server, governor = await asyncio.start_server(endless, "127.0.0.1", 0), Governor()
        port = server.sockets[0].getsockname()[1]
        async with TcpReader(governor, most=200_000) as reader:
            pieces = [TcpPiece("127.0.0.1", port, b"x"), TcpPiece("a" * 300, 1, b"x")]
            summary = await read(pieces, reader, governor, timeout=5)
        server.close()
        return [it.error for it in summary.outcomes]

    expected = ["the answer is longer than 200000 bytes", "has an invalid host name"]
    assert asyncio.run(run()) == expected


def test_an_attempt_has_a_time_limit_unless_the_caller_wants_none() -> None:
    assert signature(read).parameters["timeout"].default == 60


def test_by_tls_an_end_must_be_proven_and_no_redirect_leaves_it(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = of_localhost(tmp_path)
    monkeypatch.setattr(
        aiohttp.connector,
        "_SSL_CONTEXT_VERIFIED",
        ssl.create_default_context(cafile=str(certificate)),
    )
    asked: list[bytes] = []

    async def talk(source: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await source.readuntil(b"\r\n\r\n")
            asked.append(head.split()[1])
            if b"/away" in head:
                out.write(f"HTTP/1.1 302 Found\r\nLocation: {base}/good/x\r\n".encode())
                out.write(b"Content-Length: 0\r\n\r\n")
            elif b"/whole" in head:
                out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
            else:
                out.write(b"HTTP/1.1 200 OK\r\n\r\nabc")
            await out.drain()
            out.close()

    async def run() -> list[str | None]:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=context)
        port, governor = server.sockets[0].getsockname()[1], Governor(Plan.fixed(1, None))
        urls = [f"https://localhost:{port}/{it}" for it in ("whole", "endless", "away")]
        urls.append(f"https://127.0.0.1:{port}/whole")  # a name that the certificate lacks
        async with HttpReader(governor) as reader:
            summary = await read([HttpPiece(url) for url in urls], reader, governor, timeout=5)
        server.close()
        return [it.error for it in summary.outcomes]

    whole, unproven, away, name = asyncio.run(run())
    assert whole is None
    assert unproven == "the answer does not state its length, so nothing shows its end"
    assert away == "is redirected from https to http"
    assert name is not None
    assert re.match(r"certificate of 127.0.0.1:\d+ not trusted: IP address mismatch", name)
    assert asked == [b"/whole", b"/endless", b"/away"]
