"""Start answers in the order of their requests, in an event loop, and learn from measurements."""

import asyncio
from typing import Protocol

from incast.client.admission import Admission, Ticket
from incast.client.plan import Plan
from incast.client.sample import Meter, Sample


class Learns(Protocol):
    """Makes plans from measurements of answers."""

    plan: Plan

    def observe(self, sample: Sample, meter: Meter) -> Plan:
        """Take a finished answer and the goodput so far; return the plan for later answers."""
        ...


class Turn(Protocol):
    """The holder of a ticket, which waits for its turn."""

    ticket: Ticket

    def renew(self) -> None:
        """Set the ticket's present window on the connection."""
        ...


class Turns:
    """Begins and ends turns, as an admission allows."""

    def __init__(self, admission: Admission, learner: Learns | None) -> None:
        self.admission = admission
        self._learner = learner
        self._waiters: dict[Ticket, asyncio.Future[None]] = {}
        self._turns: dict[Ticket, Turn] = {}
        self._meter = Meter()

    async def begin(self, turn: Turn) -> None:
        """Wait until the answer of `turn` may start."""
        self._turns[turn.ticket] = turn
        self.admission.want(turn.ticket)
        wanted = self.admission.under_way + self.admission.waiting
        self._meter.wanted = max(self._meter.wanted, wanted)
        if turn.ticket in self._advance():
            return
        waiter = self._waiters[turn.ticket] = asyncio.get_running_loop().create_future()
        try:
            await waiter
        except BaseException:
            # The wait was cancelled, perhaps at the moment when the turn came.
            self.end(turn, None)
            raise

    def end(self, turn: Turn, sample: Sample | None) -> None:
        """End a turn, or stop waiting for it."""
        self._meter.tick(full=self.admission.full)
        self._waiters.pop(turn.ticket, None)
        del self._turns[turn.ticket]
        self.admission.end(turn.ticket)
        if sample is not None and self._learner is not None:
            self.admission.plan = self._learner.observe(sample, self._meter)
        self._advance()

    def received(self, ticket: Ticket, count: int) -> None:
        """Record bytes that have arrived; other answers may start as a result."""
        self._meter.tick(count, full=self.admission.full)
        before, trigger = ticket.delivered, self.admission.plan.trigger
        ticket.delivered += count
        if before < trigger <= ticket.delivered:
            self._advance()

    def _advance(self) -> list[Ticket]:
        """Start answers that are due, and pass on changed windows; return the started answers."""
        started = self.admission.due()
        for ticket in started:
            waiter = self._waiters.pop(ticket, None)
            if waiter is not None and not waiter.done():
                waiter.set_result(None)
        for ticket in self.admission.widened():
            self._turns[ticket].renew()
        self._meter.tick(full=self.admission.full)
        return started
