"""Seventy behaviours of servers, and the client's result for each. No wrong answer is accepted."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import of_localhost
from servers import BEHAVIOURS, OBJECT, serving

from conftest import Command

pytest.importorskip("aiohttp")

from incast.client import Governor, HttpPiece, HttpReader, Outcome, Plan, read
from incast.client.files import places, sweep_up

TIMEOUT = 1.0
READ = "read"

WHOLE = {
    "good": READ,
    "status-201": "the server answers 201 Created; must be 200 with the whole object",
    "status-202": "the server answers 202 Accepted; must be 200",
    "status-203": "the server answers 203 Non-Authoritative; must be 200",
    "status-204": "the server answers 204 No Content; must be 200",
    "status-205": "the server answers 205 Reset Content; must be 200",
    "status-226": "the server answers 226 IM Used; must be 200",
    "status-299": "the server answers 299 Odd; must be 200",
    "status-300": "the server answers 300 Multiple Choices; must be 200",
    "status-304": "the server answers 304 Not Modified; must be 200",
    "status-400": "the server answers 400 Bad Request",
    "status-401": "the server answers 401 Unauthorized",
    "status-403": "the server answers 403 Forbidden",
    "status-404": "the server answers 404 Not Found",
    "status-416": "the server answers 416 Range Not Satisfiable",
    "status-429": "the server answers 429 Too Many Requests",
    "status-500": "the server answers 500 Internal Server Error",
    "status-503": "the server answers 503 Service Unavailable",
    "status-999": "the server answers 999 Odd",
    "status-101": "the server answers 101 Switching; must be 200",
    "status-000": "the server answers 0 Zero; must be 200",
    "status-none": "the answer is not HTTP",
    "long-reason": "the server answers 404 x",
    "part-unasked": "the server answers 206 Partial Content; must be 200 with the whole object",
    "short": "the answer ended early",
    "short-reset": "the answer ended early",
    "long": "",
    "two-lengths": "the answer is not HTTP",
    "negative-length": "the answer is not HTTP",
    "word-length": "the answer is not HTTP",
    "huge-length": "the answer is not HTTP",
    "length-and-chunks": "the answer is not HTTP",
    "no-length": READ,
    "no-length-reset": "the connection was reset before the answer had ended",
    "empty": READ,
    "chunks": READ,
    "chunks-cut": "the answer ended early",
    "chunks-without-end": "the answer ended early",
    "chunks-bad": "the answer is not HTTP",
    "chunks-reset": "the answer ended early",
    "gzip": "the answer is encoded (gzip); identity was asked for",
    "brotli": "the answer is encoded (br)",
    "odd-encoding": "the answer is encoded (\\x1b[31mxxx",
    "identity": READ,
    "to-good": READ,
    "to-nowhere": "the server answers 302 Found; must be 200",
    "to-itself": "is redirected too often",
    "to-long-host": "is redirected to an invalid host name",
    "to-odd-host": "is redirected to an invalid host name",
    "to-odd-port": "is redirected to http://127.0.0.1:99999/, which is not an address",
    "to-short-host": "is redirected to 127.1, which is not an address",
    "to-mail": "is redirected to mailto:x@example.com; must be http",
    "to-file": "is redirected to file:///etc/passwd; must be http",
    "to-blank": "the server answers 302 Found; must be 200",
    "garbage": "the answer is not HTTP",
    "garbage-head": "the answer is not HTTP",
    "ssh": "the answer is not HTTP",
    "closes": "the connection was closed before an answer",
    "resets": "the connection failed: Connection reset by peer",
    "half-head": "the connection was closed before an answer",
    "silent": "not read in 1 s",
    "half-silent": "not read in 1 s",
    "drip": "not read in 1 s",
    "endless-head": "the answer is not HTTP",
    "endless-body": "the answer has more than the 100000 bytes that are allowed without a length",
    "endless-chunks": "the answer has more than the 100000 bytes that are allowed without a length",
    "other-object": "the answer ended early",
}
"""Per behaviour, the result of reading the whole object: `READ`, or the beginning of the error."""

RANGE = {
    "good": READ,
    "part-star": READ,
    "part-unasked": READ,
    "part-other": "the answer has bytes 5-104 of the object; must have bytes 0-99",
    "part-short": "the answer has bytes 0-49 of the object; must have bytes 0-99",
    "part-long": "the answer has bytes 0-149 of the object; must have bytes 0-99",
    "part-lies": "the answer says 50 bytes for a range of 100",
    "part-backwards": "the answer has bytes 100-99/5000; must be a range of at least a byte",
    "part-without": "the answer has no Content-Range; must be one range of bytes",
    "part-nonsense": "the answer has bytes zero-99/5000; must be one range of bytes",
    "part-units": "the answer has items 0-99/5000; must be one range of bytes",
    "part-twice": "the answer has bytes 0-99/5000, bytes 0-99/6000; must be one range",
    "part-many": "the answer has no Content-Range; must be one range of bytes",
    "part-whole": "the server answers 200: it does not serve ranges",
    "status-404": "the server answers 404 Not Found",
    "short": "the server answers 200: it does not serve ranges",
}
"""Per behaviour, the result of reading the first hundred bytes."""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving() as address:
        yield address


def fetched(pieces: list[HttpPiece], plan: Plan | None = None, **options: object) -> list[Outcome]:
    async def run() -> list[Outcome]:
        governor = Governor(plan or Plan.fixed(100, None))
        async with HttpReader(governor, most=100_000) as reader:
            kept = {"timeout": TIMEOUT, **options}
            return list((await read(pieces, reader, governor, **kept)).outcomes)  # type: ignore[arg-type]

    return asyncio.run(run())


def test_every_behaviour_is_asked_for() -> None:
    assert set(BEHAVIOURS) == set(WHOLE) | set(RANGE)
    assert len(BEHAVIOURS) >= 70


def test_what_each_behaviour_comes_to(base: str) -> None:
    """All pieces are read at once; the error of a piece does not affect the others."""
    whole = [HttpPiece(f"{base}/{name}/x") for name in WHOLE]
    parts = [HttpPiece(f"{base}/{name}/x", 0, 100) for name in RANGE]
    outcomes = fetched(whole + parts)
    expected = [*WHOLE.values(), *RANGE.values()]
    wrong = [
        f"{outcome.name}: {outcome.error!r}, not {must!r}"
        for outcome, must in zip(outcomes, expected, strict=True)
        if (outcome.error is None) != (must == READ)
        or (must != READ and not (outcome.error or "").startswith(must))
    ]
    assert wrong == []
    for outcome in outcomes:
        if outcome.error is None:
            body = b"" if "/empty/" in outcome.name else OBJECT
            assert outcome.data == (body[:100] if "[0:100]" in outcome.name else body)
        else:
            assert outcome.data is None
            assert len(outcome.error) < 300
            assert outcome.error.isprintable(), outcome.error


def test_an_address_that_is_none_is_told_apart_from_a_redirect_to_one() -> None:
    told = [outcome.error or "" for outcome in fetched([HttpPiece("http://127.1:1/x")])]
    assert told == ["is not an address; must be http://… or https://…"]


def test_another_attempt_does_not_mix_two_objects(base: str) -> None:
    (outcome,) = fetched([HttpPiece(f"{base}/other-object/x")], retries=1)
    assert outcome.data in (b"n" * 5000, None)


@pytest.mark.parametrize("plan", [Plan.ocs(2, 0), Plan.ccs(None)])
def test_a_server_that_never_answers_costs_what_was_given(base: str, plan: Plan) -> None:
    started = time.monotonic()
    silent, good = fetched([HttpPiece(f"{base}/{name}/x") for name in ("silent", "good")], plan)
    assert silent.error == "not read in 1 s"
    assert good.error is None
    assert time.monotonic() - started < 8 * TIMEOUT


def test_the_whole_read_has_a_limit(base: str) -> None:
    pieces = [HttpPiece(f"{base}/{name}/{n}") for n in range(3) for name in ("good", "drip")]
    outcomes = fetched(pieces, Plan.fixed(6, None), timeout=20.0, total=0.8)
    assert [outcome.error for outcome in outcomes] == [
        None,
        "not read before the end of 0.8 s",
    ] * 3


def test_a_disk_that_is_full_is_told_as_such(base: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    told = command("fetch", f"{base}/good/x", "--out", tmp_path, "--overwrite")
    assert told.code == 2
    assert told.err.startswith(f"incast: {base}/good/x: cannot be written: ")


def test_addresses_are_shown_without_secrets(base: str, command: Command) -> None:
    secret = base.replace("//", "//user:hunter2@")
    query = "part=7&X-Amz-Signature=deadbeef&access_token=t0ken"
    told = command("fetch", f"{secret}/status-404/x?{query}", "--format", "json")
    assert not re.search("hunter2|deadbeef|t0ken", told.out + told.err)
    (piece,) = json.loads(told.out)["pieces"]
    assert piece["url"] == f"{base}/status-404/x?part=7&X-Amz-Signature=…&access_token=…"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--window", "4GiB"], "window is 4294967296; must be 1 to 1073741824 bytes"),
        (["--budget", "100GiB"], "must be 1 to 1073741824 bytes"),
        (["--most", "0B"], "0B must be above 0"),
        (["--most", "0.9B"], "0.9B must be at least 1B"),
        (["--auto", "--budget", "0.9B"], "0.9B must be at least 1B"),
        (["--total", "0s"], "0s must be above 0"),
    ],
)
def test_absurd_options_are_refused_before_the_read(
    base: str, command: Command, options: list[str], message: str
) -> None:
    told = command("fetch", f"{base}/good/x", *options)
    assert (told.code, told.out) == (2, "")
    assert message in told.err


def test_an_untrusted_certificate_is_called_so(tmp_path: Path) -> None:
    context, _ = of_localhost(tmp_path)

    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100_000)
        writer.close()

    async def run() -> list[str | None]:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0, ssl=context)
        plain = await asyncio.start_server(leave, "127.0.0.1", 0)
        ports = [one.sockets[0].getsockname()[1] for one in (server, plain)]
        governor = Governor(Plan.fixed(2, None))
        async with HttpReader(governor) as reader:
            pieces = [HttpPiece(f"https://127.0.0.1:{port}/x") for port in ports]
            summary = await read(pieces, reader, governor, timeout=5)
        server.close()
        plain.close()
        return [outcome.error for outcome in summary.outcomes]

    untrusted, no_tls = asyncio.run(run())
    assert untrusted is not None
    assert re.match(r"certificate of 127.0.0.1:\d+ not trusted: self.signed", untrusted)
    assert no_tls is not None
    assert re.match(r"no connection to 127.0.0.1:\d+: closed by the server$", no_tls)


def test_places_of_many_addresses_cost_in_proportion(tmp_path: Path) -> None:
    """The test counts comparisons of paths, not time; comparing all pairs would need about 10^8."""
    count = 0

    class Counted(type(tmp_path)):  # type: ignore[misc]
        def __eq__(self, other: object) -> bool:
            nonlocal count
            count += 1
            return super().__eq__(other)

        __hash__ = type(tmp_path).__hash__

    pieces = [HttpPiece(f"http://127.0.0.1/{number}") for number in range(10_000)]
    there = places(pieces, Counted(tmp_path), overwrite=False)
    assert len(there) == 10_000
    assert count < 20_000


def test_what_a_killed_process_has_left_is_swept_up(
    base: str, command: Command, tmp_path: Path
) -> None:
    arguments = [sys.executable, "-m", "incast", "fetch", f"{base}/half-silent/x"]
    killed = subprocess.Popen([*arguments, "--out", str(tmp_path)], stdout=subprocess.DEVNULL)
    running = subprocess.Popen([*arguments, "--out", str(tmp_path)], stdout=subprocess.DEVNULL)
    try:
        until(lambda: len(list(tmp_path.iterdir())) == 2)
        killed.kill()
        killed.wait()
        sweep_up(tmp_path)
        assert len(list(tmp_path.iterdir())) == 1, "the other one is still being written"
        running.kill()
        running.wait()
        (tmp_path / ".incast-mine").write_text("of somebody else")
        assert command("fetch", f"{base}/good/y", "--out", tmp_path).code == 0
        assert sorted(it.name for it in tmp_path.iterdir()) == [".incast-mine", "y"]
    finally:
        for process in (killed, running):
            process.kill()
            process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_whole_objects_and_a_summary(
    base: str, tmp_path: Path, number: signal.Signals
) -> None:
    urls = [f"{base}/good/one", f"{base}/half-silent/two", f"{base}/silent/three"]
    options = ["--out", str(tmp_path), "--format", "json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "incast", "fetch", *urls, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    until(lambda: (tmp_path / "one").exists() and len(list(tmp_path.iterdir())) >= 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert [piece["error"] for piece in json.loads(out)["pieces"]] == [
        None,
        "interrupted",
        "interrupted",
    ]
    assert err.endswith("incast: interrupted; 1 of 3 pieces were read\n")
    assert [it.name for it in tmp_path.iterdir()] == ["one"]
    assert (tmp_path / "one").read_bytes() == OBJECT


def until(holds: "object", seconds: float = 20.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < end, "it never held"
        time.sleep(0.02)
