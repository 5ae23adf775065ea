"""A semaphore that limits the number of answers in flight, and their bytes."""

import socket
from time import monotonic
from types import TracebackType
from typing import Self

from incast.client import window
from incast.client.admission import Admission, Ticket
from incast.client.plan import Plan
from incast.client.sample import Sample
from incast.client.turns import Learns, Turns

NOT_HERE = (
    "receive windows can be set on Linux only; this system bounds the number of answers in "
    "flight, but not their bytes"
)


class Governor:
    """Limits the number of answers in flight, and the sum of their receive windows.

    A governor belongs to one event loop. Answers start in the order in which their slots were
    requested.

        governor = Governor(Plan.fixed(4))
        async with governor.slot() as slot:
            ...  # ask a server, read its answer

    Parameters
    ----------
    plan
        The limits, or a `Learner`, which starts with the safe budget and learns the limits.
    """

    def __init__(self, plan: Plan | Learns | None = None) -> None:
        learner = None if plan is None or isinstance(plan, Plan) else plan
        first = plan if isinstance(plan, Plan) else learner.plan if learner else Plan()
        self._admission = Admission(first)
        self._turns = Turns(self._admission, learner)

    @property
    def plan(self) -> Plan:
        """The plan in force."""
        return self._admission.plan

    @property
    def under_way(self) -> int:
        """Answers in flight."""
        return self._admission.under_way

    @property
    def waiting(self) -> int:
        """Answers that wait for a slot."""
        return self._admission.waiting

    @property
    def allotted(self) -> int:
        """Sum of the windows of the answers in flight, bytes."""
        return self._admission.allotted

    @property
    def note(self) -> str | None:
        """One line on the part of the plan that this system cannot carry out, or None."""
        return None if window.SUPPORTED or self.plan.window is None else NOT_HERE

    def slot(self) -> "Slot":
        """Return a slot for one answer; use it once, with `async with`."""
        return Slot(self._turns)

    def prepare(self, sock: socket.socket) -> None:
        """Set the window of the present plan on a socket that is not connected yet."""
        window.prepare(sock, self.plan.window)


class Slot:
    """Permission to read one answer.

    Call `attach` with the socket of the answer's connection, so that the slot can limit the
    window. Call `received` with the number of bytes whenever bytes have arrived.
    """

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._sock: socket.socket | None = None
        self._lost_before = 0
        self._started = self._last = self._gap = 0.0
        self.ticket = Ticket()
        self.held: window.Held | None = None
        """The window of the connection; None until it has been set."""
        self.sample: Sample | None = None
        """The measurements of the answer; None before its end, and None if no data arrived."""

    @property
    def window(self) -> int | None:
        """Bytes that this answer may have in flight; None without a limit."""
        return self.ticket.window

    async def __aenter__(self) -> Self:
        if self._started:
            raise RuntimeError("a slot is for one answer; ask governor.slot() for another")
        await self._turns.begin(self)
        self._started = self._last = monotonic()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.sample = self._seen(whole=kind is None)
        self._turns.end(self, self.sample)
        self._sock = None

    def attach(self, sock: socket.socket) -> None:
        """Set the window on this connection now, and again when the first data arrive."""
        if sock is not self._sock:
            self._sock = sock
            self._lost_before = window.out_of_order(sock)
            self.renew()

    def received(self, count: int) -> None:
        """Record that `count` more bytes of the answer have arrived."""
        now = monotonic()
        self._gap, self._last = max(self._gap, now - self._last), now
        is_first = not self.ticket.delivered
        self._turns.received(self.ticket, count)
        if is_first:
            self.renew()

    def renew(self) -> None:
        """Set the slot's present window on its connection, if a connection is attached."""
        sock = self._usable()
        if sock is not None:
            self.held = window.hold(sock, self.window)

    def _seen(self, *, whole: bool) -> Sample | None:
        """Return the measurements of the answer; None if no data arrived."""
        if not self.ticket.delivered:
            return None
        now, sock = monotonic(), self._usable()
        return Sample(
            received=self.ticket.delivered,
            seconds=now - self._started,
            gap=self._gap if whole else max(self._gap, now - self._last),
            lost=0 if sock is None else window.out_of_order(sock) - self._lost_before,
        )

    def _usable(self) -> socket.socket | None:
        return self._sock if self._sock is not None and self._sock.fileno() >= 0 else None
