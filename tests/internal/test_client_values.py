"""Numbers of the client: measurements, summaries, names, messages, plans for a path."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from incast.client import Governor, Outcome, Plan, Summary, TcpPiece, TcpReader, read, said
from incast.client import sample as sampling
from incast.client.admission import Admission, Ticket
from incast.client.sample import Meter, Sample
from incast.client.tcp import UNBOUNDED
from incast.client.window import Held

pytest.importorskip("aiohttp")

from incast.client import HttpPiece
from incast.client.files import _last, places


def outcome(error: str | None, received: int, seconds: float, gap: float = 0.0) -> Outcome:
    sample = Sample(received, seconds, gap) if received else None
    return Outcome(f"{received} B", error, 1, 0.0, sample, None, None)


def test_a_summary_counts_whole_pieces() -> None:
    pieces = (
        outcome(None, 3000, 0.2, 0.15),
        outcome(None, 5000, 0.1, 0.151),
        outcome("ended early", 700, 9.0, 0.3),
        outcome("no answer", 0, 0.0),
    )
    summary = Summary(pieces, 4.0)
    assert summary.received == 8000
    assert summary.goodput_bps == 16_000
    assert summary.stalls == 2, "of a failed piece, too; 0.15 s is none"
    assert summary.slowest is pieces[0]
    assert summary.failed == pieces[2:]
    assert Summary((), 0.0).goodput_bps == 0
    assert Summary(pieces[2:], 1.0).slowest is None


def test_a_meter_counts_only_while_the_plan_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Iterator[float] = iter([10.0, 12.0, 15.0, 20.0, 21.0])
    monkeypatch.setattr(sampling, "monotonic", lambda: next(times))
    meter = Meter()
    assert meter.goodput == 0
    meter.tick(100, full=True)  # the first tick: these bytes do not count
    meter.tick(30, full=True)  # two seconds
    meter.tick(20, full=False)  # three
    meter.tick(500, full=True)  # not full at the tick before: these bytes do not count
    meter.tick(50, full=True)  # one
    assert (meter.seconds, meter.received) == (6.0, 100)
    assert meter.goodput == pytest.approx(100 / 6)
    meter.wanted = 4
    meter.clear()
    assert (meter.seconds, meter.received, meter.wanted) == (0, 0, 0)


def test_an_admission_is_full_if_all_slots_are_taken_or_somebody_waits() -> None:
    admission = Admission(Plan.fixed(2, 1000))
    tickets = [Ticket() for _ in range(3)]
    admission.want(tickets[0])
    assert (admission.waiting, admission.full) == (1, True)
    assert admission.due() == tickets[:1]
    assert (admission.under_way, admission.full) == (1, False)
    admission.want(tickets[1])
    admission.due()
    assert (admission.allotted, admission.full) == (2000, True)
    admission.want(tickets[2])
    assert admission.due() == []
    admission.end(tickets[2])
    assert (admission.waiting, admission.under_way) == (0, 2)


def test_windows_of_the_last_answers_grow_only_if_the_plan_says_so() -> None:
    for grows, windows in ((True, [2000, 2000]), (False, [1000, 1000])):
        admission = Admission(Plan(size=4, sets=1, window=1000, grows=grows))
        tickets = [Ticket() for _ in range(4)]
        for ticket in tickets:
            admission.want(ticket)
        admission.due()
        assert admission.widened() == []
        for ticket in tickets[:2]:
            admission.end(ticket)
        assert admission.widened() == (tickets[2:] if grows else [])
        assert [ticket.window for ticket in tickets[2:]] == windows
        assert admission.allotted == sum(windows)
        assert admission.widened() == []


@pytest.mark.parametrize(
    ("plan", "slots", "allotted"),
    [
        (Plan(), 4, 23168),
        (Plan.fixed(), 4, 23168),
        (Plan.fixed(3, 1000), 3, 3000),
        (Plan.fixed(3, 1000, 5000), 3, 5000),
        (Plan.fixed(3, 1000, 3000), 3, 3000),
        (Plan.fixed(3, None), 3, None),
        (Plan.ccs(), 1, 5792),
        (Plan.nccs(), 4, 23168),
        (Plan.ocs(), 4, 23168),
        (Plan.batches(), 4, 23168),
    ],
)
def test_defaults_of_plans(plan: Plan, slots: int, allotted: int | None) -> None:
    assert (plan.slots, plan.allotted) == (slots, allotted)


def test_the_kinds_of_plans_are_what_they_say() -> None:
    assert Plan.batches() == Plan(size=4, sets=1)
    assert Plan.nccs() == Plan(size=1, sets=4, trigger=0)
    assert Plan.ocs() == Plan(size=2, sets=2, trigger=0, grows=True, early=True)
    assert not Plan().grows
    assert not Plan().early
    assert Plan(window=1).allotted == 4
    assert Plan(window=1 << 30).window == 1 << 30
    with pytest.raises(ValueError, match="must be 1 to 1073741824 bytes"):
        Plan(window=(1 << 30) + 1)
    with pytest.raises(ValueError, match="of 2999; must be at most 999 bytes each"):
        Plan.fixed(3, 1000, 2999)


def test_the_trigger_is_what_a_set_lacks_when_its_windows_are_full() -> None:
    """At 1 Gbit/s and 100 µs, T1 is 412 µs, in which the link carries 51 500 bytes."""
    for answer, size in ((2**16, 2), (2**20, 1)):
        plan = Plan.ocs_for(1e9, 100e-6, answer)
        assert (plan.size, plan.trigger) == (size, answer - 51_500 // size)
    assert Plan.ocs_for(1e9, 100e-6, 2**16, form="printed").trigger == 2**16 - 51_500
    assert Plan.ocs_for(1e9, 100e-6, 51_500, form="printed").trigger == 0


@pytest.mark.parametrize(
    ("start", "stop", "name", "headers"),
    [
        (0, None, "http://h/x", {}),
        (1, None, "http://h/x [1:]", {"Range": "bytes=1-"}),
        (0, 1, "http://h/x [0:1]", {"Range": "bytes=0-0"}),
        (100, 300, "http://h/x [100:300]", {"Range": "bytes=100-299"}),
    ],
)
def test_a_range_is_named_and_asked_for(
    start: int, stop: int | None, name: str, headers: dict[str, str]
) -> None:
    piece = HttpPiece("http://user:pw@h/x", start, stop)
    assert (piece.name, piece.headers) == (name, headers)
    assert piece.is_range == bool(headers)


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("http://h/a/b.bin?x=1#y", "b.bin"),
        ("http://h", "index"),
        ("http://h/a/", "index"),
        ("http://h/.", "index"),
        ("http://h/%2e%2e", "index"),
        ("http://h/a%2Fb", "a_b"),
        ("http://h/a%00b", "a_b"),
        ("http://h/a%20b", "a b"),
    ],
)
def test_a_file_is_named_after_the_last_part(url: str, file: str) -> None:
    assert _last(url) == file


def test_only_shared_names_have_the_host(tmp_path: Path) -> None:
    urls = ["http://u:p@h:81/a", "http://i/a", "http://i/b"]
    there = places([HttpPiece(url) for url in urls], tmp_path, overwrite=True)
    assert [path.name for path in there.values()] == ["h-81_a", "i_a", "b"]


def test_texts_are_cut_at_their_limits() -> None:
    assert said.reason("x" * 160) == "x" * 160
    assert said.reason("x" * 161) == "x" * 159 + "…"
    path = "x" * (2000 - len("http://h/"))
    assert said.address(f"http://h/{path}") == f"http://h/{path}"
    assert said.address(f"http://h/{path}x") == f"http://h/{path[:-1]}…"
    assert said.address("http://h/?a=1&my_token=2&b=3") == "http://h/?a=1&my_token=…&b=3"
    # What follows the first 640 letters of a text is not even searched for secrets.
    assert said.reason("u:p@" + "x" * 636) == "x" * 159 + "…"


def test_a_window_that_was_set_is_told_with_the_outcome() -> None:
    class Reader:
        async def connect(self, piece: HttpPiece) -> None:
            raise AssertionError("not early")

        async def fetch(self, piece: HttpPiece, slot: object, write: object) -> None:
            slot.held = Held(5792, 5000)  # type: ignore[attr-defined]
            slot.received(3)  # type: ignore[attr-defined]
            write(b"abc")  # type: ignore[operator]

    async def run() -> Outcome:
        summary = await read([HttpPiece("http://h/x")], Reader(), Governor())
        return summary.outcomes[0]

    told = asyncio.run(run())
    assert (told.window, told.attempts, told.error, told.data) == (5000, 1, None, b"abc")
    assert told.sample is not None
    assert (told.sample.received, told.sample.lost) == (3, 0)


async def answers(source: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
    """Answer each byte with five bytes, and an x with five bytes and the end of the connection."""
    with suppress(ConnectionError, asyncio.CancelledError):
        while asked := await source.read(1):
            out.write(b"abcde")
            await out.drain()
            if asked == b"x":
                break
    out.close()


@pytest.mark.parametrize(
    ("sizes", "connections", "errors"),
    [
        ([5, 5, 5], 1, [None] * 3),
        ([None, None], 2, [None] * 2),
        ([5, None], 1, [None] * 2),
        ([4], 1, ["the answer is longer than 4 bytes"]),
        ([6], 1, ["the server closed the connection with 1 bytes missing"]),
    ],
)
def test_a_connection_is_used_again_if_the_size_of_the_answer_is_known(
    sizes: list[int | None], connections: int, errors: list[str | None]
) -> None:
    opened = []

    async def run() -> list[Outcome]:
        async def serve(source: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
            opened.append(out)
            await answers(source, out)

        server, governor = await asyncio.start_server(serve, "127.0.0.1", 0), Governor(Plan.ccs())
        port = server.sockets[0].getsockname()[1]
        async with TcpReader(governor) as reader:
            pieces = [
                TcpPiece("127.0.0.1", port, b"r" if size in (4, 5) else b"x", size)
                for size in sizes
            ]
            summary = await read(pieces, reader, governor, timeout=5)
        server.close()
        return list(summary.outcomes)

    told = asyncio.run(run())
    assert [it.error for it in told] == errors
    assert len(opened) == connections
    assert [it.data for it in told if it.error is None] == [b"abcde"] * errors.count(None)


@pytest.mark.parametrize("order", [["good"], ["bad", "good"], ["good", "bad"], ["bad"] * 2])
def test_each_address_of_a_host_is_tried(monkeypatch: pytest.MonkeyPatch, order: list[str]) -> None:
    async def run() -> Outcome:
        loop = asyncio.get_running_loop()
        server, governor = await asyncio.start_server(answers, "127.0.0.1", 0), Governor()
        good = server.sockets[0].getsockname()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))  # and does not listen
            ports = {"good": good, "bad": free.getsockname()}

            async def found(*_: object, **__: object) -> list[object]:
                return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ports[it]) for it in order]

            monkeypatch.setattr(loop, "getaddrinfo", found)
            async with TcpReader(governor) as reader:
                piece = TcpPiece("host", 1, b"r", 5)
                assert piece.name == "host:1"
                summary = await read([piece], reader, governor, timeout=5)
        server.close()
        return summary.outcomes[0]

    told = asyncio.run(run())
    assert (told.error or "").startswith("" if "good" in order else "cannot connect: Connect")
    assert (told.error is None) == ("good" in order)


def test_an_answer_of_unknown_size_may_have_a_gibibyte() -> None:
    assert UNBOUNDED == 2**30
    assert TcpReader(Governor())._most == 2**30
