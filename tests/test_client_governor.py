"""The governor: a semaphore for answers, in an event loop."""

import asyncio
import socket
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incast.client import Governor, Plan


async def _yielding(times: int) -> None:
    for _ in range(times):
        await asyncio.sleep(0)


@settings(max_examples=50)
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), min_size=1, max_size=25),
)
def test_any_mix_of_ends_errors_and_cancellations_keeps_the_bounds(
    k: int, tasks: list[tuple[int, int]]
) -> None:
    """Each task holds its slot for some turns of the event loop; some fail or are cancelled."""

    async def scene() -> None:
        governor = Governor(Plan.fixed(k, window=1000))

        async def one(turns: int) -> None:
            async with governor.slot() as slot:
                assert slot.window == 1000
                assert governor.under_way <= k
                assert governor.allotted <= k * 1000
                await _yielding(turns)
                if turns == 5:
                    raise OSError

        started = [asyncio.create_task(one(turns)) for turns, _ in tasks]
        for task, (_, wait) in zip(started, tasks, strict=True):
            if wait >= 6:
                await _yielding(wait - 6)
                task.cancel()
        await asyncio.wait(started, timeout=5)
        assert all(task.done() for task in started)
        assert (governor.under_way, governor.waiting, governor.allotted) == (0, 0, 0)
        for task in started:
            with suppress(OSError, asyncio.CancelledError):
                task.result()

    asyncio.run(scene())


def test_slots_are_given_in_the_order_of_the_wishes() -> None:
    async def scene() -> list[int]:
        governor, order = Governor(Plan.fixed(2)), list[int]()

        async def one(number: int) -> None:
            async with governor.slot():
                order.append(number)
                await _yielding(number % 3)

        await asyncio.gather(*(one(number) for number in range(20)))
        return order

    assert asyncio.run(scene()) == list(range(20))


def test_who_is_cancelled_in_the_moment_of_its_turn_gives_it_on() -> None:
    async def scene() -> None:
        governor = Governor(Plan.ccs())
        first, second, third = governor.slot(), governor.slot(), governor.slot()
        await first.__aenter__()
        waits = asyncio.create_task(second.__aenter__())
        waits_too = asyncio.create_task(third.__aenter__())
        await _yielding(2)
        await first.__aexit__(None, None, None)
        waits.cancel()
        await asyncio.wait_for(waits_too, 5)
        assert waits.cancelled()
        assert (governor.under_way, governor.waiting) == (1, 0)

    asyncio.run(scene())


def test_a_slot_is_for_one_answer() -> None:
    async def scene() -> None:
        slot = Governor().slot()
        async with slot:
            pass
        with pytest.raises(RuntimeError, match="one answer"):
            await slot.__aenter__()

    asyncio.run(scene())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has TCP_WINDOW_CLAMP")
def test_a_slot_holds_the_window_of_its_connection_and_reads_it_back() -> None:
    async def scene() -> None:
        governor = Governor(Plan.fixed(2, window=5792))
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as sock:
            governor.prepare(sock)
            sock.connect(server.getsockname())
            there, _ = server.accept()
            async with governor.slot() as slot:
                slot.attach(sock)
                there.sendall(bytes(30000))  # now the kernel overwrites the window clamp
                slot.received(len(sock.recv(3000)))
                assert slot.held == (5792, 5792)
            there.close()

    asyncio.run(scene())


def test_elsewhere_only_the_number_of_answers_is_bounded_and_it_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sys.platform != "linux" or Governor().note is None
    monkeypatch.setattr("incast.client.window.SUPPORTED", False)
    governor = Governor()
    assert governor.note is not None
    assert "Linux only" in governor.note
    assert Governor(Plan.fixed(4, window=None)).note is None
    with socket.socket() as sock:
        before = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF)
        governor.prepare(sock)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) == before
