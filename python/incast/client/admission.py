"""Decide which answer may start next, with a queue of answers and the sets in which they start.

The module uses no sockets and no clock.
"""

from collections import deque
from dataclasses import dataclass, field

from incast.client.plan import Plan


@dataclass(eq=False)
class Ticket:
    """One answer, from its request for a slot until its end."""

    window: int | None = None
    """Receive window in bytes; None without a limit, or before the answer is in flight."""
    delivered: int = 0


@dataclass
class _Set:
    free: int
    members: list[Ticket] = field(default_factory=list)
    """Answers of the set that have started and have not ended."""


class Admission:
    """Starts answers in the order of their requests, as a plan allows.

    `plan` may change at any time: answers in flight continue, and later answers follow the new
    plan.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._waiting: deque[Ticket] = deque()
        self._open: list[_Set] = []
        self._under_way: dict[Ticket, _Set] = {}
        self._allotted = 0

    @property
    def waiting(self) -> int:
        """Answers that wait for their turn."""
        return len(self._waiting)

    @property
    def under_way(self) -> int:
        """Answers that have started and have not ended."""
        return len(self._under_way)

    @property
    def allotted(self) -> int:
        """Sum of the windows of the answers in flight, bytes."""
        return self._allotted

    @property
    def full(self) -> bool:
        """Whether the maximum number of answers is in flight, or an answer waits."""
        return self.under_way >= self.plan.slots or self.waiting > 0

    def want(self, ticket: Ticket) -> None:
        """Queue an answer."""
        self._waiting.append(ticket)

    def end(self, ticket: Ticket) -> None:
        """Remove an answer that has ended, or that is not wanted any more."""
        its = self._under_way.pop(ticket, None)
        if its is None:
            self._waiting.remove(ticket)
            return
        self._allotted -= ticket.window or 0
        its.members.remove(ticket)
        if not its.members and not its.free:
            self._open.remove(its)
        if not self._under_way:
            self._open.clear()  # a set that is not full must not delay later answers

    def due(self) -> list[Ticket]:
        """Start the answers whose turn it is, and return them."""
        started = []
        while self._waiting and self._has_room():
            ticket = self._waiting.popleft()
            ticket.window = self.plan.window
            self._allotted += ticket.window or 0
            newest = self._open[-1]
            newest.free -= 1
            newest.members.append(ticket)
            self._under_way[ticket] = newest
            started.append(ticket)
        return started

    def widened(self) -> list[Ticket]:
        """Enlarge the windows of the last answers of a read, if the plan says so; return them."""
        plan, left = self.plan, self.under_way
        if not plan.grows or self._waiting or not 0 < left < plan.size:
            return []
        share = (plan.allotted or 0) // plan.sets // left
        smaller = [it for it in self._under_way if it.window is not None and it.window < share]
        for ticket in smaller:
            self._allotted += share - (ticket.window or 0)
            ticket.window = share
        return smaller

    def _has_room(self) -> bool:
        """Return whether one more answer may start; open a new set for it if necessary."""
        plan = self.plan
        if self.under_way >= plan.slots:
            return False
        if plan.allotted is not None and self._allotted + (plan.window or 0) > plan.allotted:
            return False
        if self._open and self._open[-1].free:
            return True
        if self._open and (len(self._open) >= plan.sets or not self._has_newest_delivered()):
            return False
        self._open.append(_Set(plan.size))
        return True

    def _has_newest_delivered(self) -> bool:
        return all(it.delivered >= self.plan.trigger for it in self._open[-1].members)
