"""Requests of the client in `incast live`, their times, and the thread that serves all sockets."""

import random
import select
import socket
import time
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

import incast
from conftest import document
from incast.live import beside, loop, report
from incast.live.server import ENDLESS, REQUEST
from incast.live.traffic import Client, Summary


def client(here: SimpleNamespace, seed: int = 7) -> Client:
    """Return a client without sockets."""
    made: Any = Client.__new__(Client)
    made.here, made.random, made.summary = here, random.Random(seed), Summary()
    made.left, made.ends, made.last = 0, [], 0.0
    return cast("Client", made)


def told(
    jitter: float = 0.0, start: float = 0.0, spread: float = 0.0, before: bool = False, n: int = 3
) -> SimpleNamespace:
    return SimpleNamespace(
        servers=n, sru=1000, block=None, request_jitter=jitter, base_rtt=0.001,
        workload={"handshakes": "before"} if before else {},
        facts={"start_spread_s": start, "request_spread_s": spread},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("block", "servers", "sizes"),
    [
        (None, 3, [1000] * 3),
        (10, 3, [4, 3, 3]),
        (11, 3, [4, 4, 3]),
        (12, 3, [4] * 3),
        (1, 2, [1, 0]),
    ],
)
def test_a_block_is_divided_among_the_servers(
    block: int | None, servers: int, sizes: list[int]
) -> None:
    here = told(n=servers)
    here.block = block
    assert client(here).sizes() == sizes


def test_requests_leave_one_after_the_other_within_the_jitter() -> None:
    steps = client(told(jitter=0.5)).steps(10.0)[::-1]
    assert [(flow, size) for _, flow, size in steps] == [(0, 1000), (1, 1000), (2, 1000)]
    times = [at for at, *_ in steps]
    assert times[0] == 10.0
    chance = random.Random(7)
    gaps = []
    for flow in range(3):
        if flow:
            gaps.append(chance.uniform(0, 0.5))
        chance.uniform(0, 0)
    assert [times[1] - times[0], times[2] - times[1]] == pytest.approx(gaps)


def test_requests_without_jitter_leave_at_once_and_the_first_is_asked_first() -> None:
    steps = client(told()).steps(5.0)
    assert steps == [(5.0, 2, 1000), (5.0, 1, 1000), (5.0, 0, 1000)]


def test_connections_open_before_requests_that_are_spread() -> None:
    steps = client(told(start=1.0, spread=2.0)).steps(0.0)[::-1]
    assert steps == sorted(steps, key=lambda step: step[0])
    opened = {flow: at for at, flow, size in steps if size is None}
    asked = {flow: at for at, flow, size in steps if size == 1000}
    assert set(opened) == set(asked) == {0, 1, 2}
    for flow in range(3):
        assert 0 <= opened[flow] <= 1
        assert 0 <= asked[flow] - opened[flow] <= 2
    early = client(told(start=1.0, spread=2.0, before=True)).steps(0.0)
    assert [size for *_, size in early] == [1000] * 3
    at_once = client(told(spread=2e-300)).steps(0.0)[::-1]
    assert [size for *_, size in at_once].count(None) == 3


@pytest.mark.parametrize(("gap", "stalls"), [(0.01, 0), (0.0101, 1)])
def test_ten_round_trips_without_data_are_a_stall(
    monkeypatch: pytest.MonkeyPatch, gap: float, stalls: int
) -> None:
    made = client(told())
    monkeypatch.setattr("incast.live.traffic.time.monotonic", lambda: gap)
    made.left = 2
    made.on_data(SimpleNamespace(missing=1))  # type: ignore[arg-type]
    assert made.summary.stalls == [gap] * stalls
    assert (made.left, made.ends, made.last) == (2, [], gap)
    made.on_data(SimpleNamespace(missing=0))  # type: ignore[arg-type]
    assert (made.left, made.ends) == (1, [gap])
    assert len(made.summary.stalls) == stalls


def test_a_read_ends_at_its_time_or_when_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    made = client(told())
    monkeypatch.setattr("incast.live.traffic.time.monotonic", lambda: 5.0)
    for cancelled, end, over in ((False, 5.1, False), (False, 5.0, True), (True, 9.0, True)):
        made.cancelled = lambda cancelled=cancelled: cancelled  # type: ignore[misc]
        assert made.is_over(end) is over


@pytest.mark.parametrize(
    ("blocks", "duration", "read", "elapsed"),
    [(2, None, 2, 4.0), (None, 5.0, 3, 6.0), (None, 4.0, 2, 4.0), (1, 9.0, 1, 2.0)],
)
def test_blocks_are_read_until_their_number_or_the_duration(
    monkeypatch: pytest.MonkeyPatch, blocks: int | None, duration: float | None, read: int,
    elapsed: float,
) -> None:  # fmt: skip
    """Each block takes two seconds: one server finishes after one second, the other after two."""
    here = told(n=2)
    here.facts["duration_s"] = duration
    here.workload = {"blocks": blocks} if blocks else {}
    made, now = client(here), [0.0]
    monkeypatch.setattr("incast.live.traffic.time.monotonic", lambda: now[0])

    def block(start: float, end: float) -> bool:
        assert end == 99.0
        made.block_start, made.ends = start, [start + 1, start + 2]
        now[0] += 2
        return True

    made.read_block = block  # type: ignore[method-assign]
    made.read(0.0, 99.0)
    assert made.summary.finished
    assert made.summary.completions == [2.0] * read
    assert (made.summary.bytes, made.summary.elapsed) == (2000 * read, elapsed)
    # The goodputs are 1 and 1/2, so the fairness is (3/2)² / (2 · 5/4).
    assert made.summary.fairness == pytest.approx(0.9)


def test_a_block_that_is_not_read_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    here = told()
    here.facts["duration_s"], here.workload = None, {"blocks": 3}
    made = client(here)
    made.read_block = lambda *_: False  # type: ignore[method-assign]
    made.read(0.0, 1.0)
    assert (made.summary.finished, made.summary.completions) == (False, [])


@pytest.mark.parametrize(
    ("limit", "got", "finished", "elapsed", "fairness"),
    [
        (9.0, [300, 100], True, 2.0, 0.8),
        (1.0, [300, 100], False, 1.0, 0.8),
        (2.0, [5, 5], True, 2.0, 1.0),
        (9.0, [0, 0], True, 2.0, None),
    ],
)
def test_long_flows_last_for_their_duration(
    monkeypatch: pytest.MonkeyPatch,
    limit: float,
    got: list[int],
    finished: bool,
    elapsed: float,
    fairness: float | None,
) -> None:
    here = told()
    here.facts["duration_s"] = 2.0
    wanted: list[int] = []
    made, now = client(here), [10.0]
    made.cancelled = lambda: False
    made.parts = [SimpleNamespace(got=one, ask=wanted.append) for one in got]  # type: ignore[misc]

    def wait(until: float) -> None:
        assert until == 10.0 + min(2.0, limit)
        now[0] += 0.5

    made.loop = SimpleNamespace(wait=wait)  # type: ignore[assignment]
    monkeypatch.setattr("incast.live.traffic.time.monotonic", lambda: now[0])
    made.flood(10.0, 10.0 + limit)
    summary = made.summary
    assert (summary.finished, summary.bytes) == (finished, sum(got))
    assert (summary.elapsed, summary.fairness) == (elapsed, fairness)
    assert wanted == [2**63] * 2
    assert (ENDLESS, REQUEST.pack(258)) == (2**63, b"\0\0\0\0\0\0\1\2")


@pytest.mark.parametrize(
    ("left", "waited"), [(0.001, 0), (0.002, 0), (0.0021, 0.0021), (0.05, 0.05), (9.0, 0.05)]
)
def test_a_wait_is_short_and_exact(
    monkeypatch: pytest.MonkeyPatch, left: float, waited: float
) -> None:
    asked: list[tuple[float, int]] = []
    one = loop.Loop.__new__(loop.Loop)
    one._calls = {}

    def poll(seconds: float, most: int) -> list[tuple[int, int]]:
        asked.append((seconds, most))
        return [(7, 1)]

    one._epoll = SimpleNamespace(poll=poll)  # type: ignore[assignment]
    monkeypatch.setattr("incast.live.loop.time.monotonic", lambda: 0.0)
    one.wait(left)
    assert asked == [(waited, 256)]


def test_a_loop_calls_for_what_is_ready() -> None:
    calls: list[int] = []
    with loop.Loop() as serving:
        here, there = socket.socketpair()
        serving.add(here, calls.append, writes=True)
        serving.wait(time.monotonic() + 1)
        serving.watch(here, writes=False)
        serving.wait(time.monotonic() + 0.003)
        assert calls == [select.EPOLLOUT]
        there.send(b"x")
        serving.wait(time.monotonic() + 1)
        assert calls == [select.EPOLLOUT, select.EPOLLIN]
        other, _ = kept = socket.socketpair()
        serving.add(other, calls.append)
        serving.wait(time.monotonic() + 0.003)
        serving.remove(other)
        assert other.fileno() == -1
        there.close()
        kept[1].close()
    assert here.fileno() == -1
    assert [loop.writable(events) for events in (0, 1, select.EPOLLOUT, select.EPOLLERR)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_notes_name_runs_that_cannot_be_trusted_and_a_longer_timer() -> None:
    tree = document(transport={"name": "cubic"}) | {"profile": "linux"}
    results = incast.run(tree)
    rows = results.numbered().with_columns(pl.lit(None, pl.Float64).alias("live.rto_s"))
    doubted = rows.with_columns(
        status=pl.Series(["untrusted", "ok"]), **{"live.rto_s": pl.Series([0.3, 0.021])}
    )

    def of(frame: pl.DataFrame) -> list[str]:
        stub: Any = SimpleNamespace(numbered=lambda: frame, resolved=results.resolved)
        return report.notes(stub)

    assert of(rows) == []
    first, second = of(doubted)
    assert first.startswith("1 of 2 runs cannot be trusted, because the switch was late")
    assert second.endswith("10 ms was requested; the kernel's RTO was 21 ms or more")


def test_simulation_and_real_hosts_stand_side_by_side() -> None:
    swept = incast.run(document(sweep={"workload.servers": [2, 4, 32]}))
    part = incast.run(document(sweep={"workload.servers": [2, 4]}))
    keys, columns = beside.table(swept, part, None)
    assert [list(column.cells) for column in keys] == [["2", "4", "32"]]
    assert [column.name for column in columns] == [
        "goodput_bps", "real.goodput_bps", "real.goodput_bps_ci95", "timeouts", "real.timeouts",
    ]  # fmt: skip
    ours, real, interval, timeouts, theirs = (list(column.cells) for column in columns)
    assert ours[:2] == real[:2]
    assert timeouts[:2] == theirs[:2]
    assert (real[2], interval[2], theirs[2]) == ("–", "–", "–")
    assert all("–" in text and text != "–" for text in interval[:2])
    assert float(timeouts[2]) > 0
