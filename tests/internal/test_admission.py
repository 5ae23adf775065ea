"""The order in which the client lets answers start, without sockets or a clock."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incast.client import Plan, PlanError
from incast.client.admission import Admission, Ticket
from incast.client.turns import Turns


def plans() -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        size=st.integers(1, 4),
        sets=st.integers(1, 4),
        trigger=st.sampled_from([0, 1, 50]),
        window=st.none() | st.integers(1, 9000),
        grows=st.booleans(),
    )


class Desk:
    """An admission, and the numbers of the answers that it has started."""

    def __init__(self, plan: Plan) -> None:
        self.admission = Admission(plan)
        self.tickets: list[Ticket] = []
        self.started: list[int] = []

    def wants(self, count: int) -> list[int]:
        for _ in range(count):
            self.tickets.append(Ticket())
            self.admission.want(self.tickets[-1])
        return self.due()

    def ends(self, number: int) -> list[int]:
        self.admission.end(self.tickets[number])
        return self.due()

    def delivers(self, number: int, count: int) -> list[int]:
        self.tickets[number].delivered += count
        return self.due()

    def due(self) -> list[int]:
        new = [self.tickets.index(ticket) for ticket in self.admission.due()]
        self.started += new
        self.admission.widened()
        return new


@given(plans(), st.lists(st.tuples(st.sampled_from("wed"), st.integers(0, 99)), max_size=60))
def test_never_more_than_k_nor_more_window_than_the_budget_and_first_come_first_served(
    plan: Plan, steps: list[tuple[str, int]]
) -> None:
    desk, gone = Desk(plan), set[int]()

    def check() -> None:
        windows = [desk.tickets[it].window for it in desk.started if it not in gone]
        assert desk.admission.under_way == len(windows) <= plan.slots
        assert desk.admission.allotted == sum(it or 0 for it in windows)
        assert plan.allotted is None or desk.admission.allotted <= plan.allotted
        assert desk.started == sorted(desk.started), "those who came first start first"

    for kind, number in steps:
        if kind == "w":
            desk.wants(1 + number % 5)
        elif there := [it for it in range(len(desk.tickets)) if it not in gone]:
            chosen = there[number % len(there)]
            if kind == "e":
                gone.add(chosen)
                desk.ends(chosen)
            elif chosen in desk.started:
                desk.delivers(chosen, 30)
        check()
    while left := [it for it in range(len(desk.tickets)) if it not in gone]:
        there = [it for it in left if it in desk.started]
        assert there, "somebody waits although nobody is under way"
        gone.add(there[0])
        desk.ends(there[0])
        check()


def test_complete_serialisation_asks_one_after_the_other() -> None:
    desk = Desk(Plan.ccs())
    assert desk.wants(3) == [0]
    assert desk.delivers(0, 1000) == []
    assert desk.ends(0) == [1]
    assert desk.ends(1) == [2]


def test_nearly_complete_serialisation_starts_the_next_at_the_trigger() -> None:
    desk = Desk(Plan.nccs(2, trigger=100))
    assert desk.wants(4) == [0]
    assert desk.delivers(0, 99) == []
    assert desk.delivers(0, 1) == [1]
    assert desk.delivers(1, 100) == [], "two are open"
    assert desk.ends(0) == [2]
    assert desk.ends(1) == [], "the newest has delivered nothing"
    assert desk.ends(2) == [3]


def test_sets_of_ocs_open_when_every_member_of_the_newest_has_reached_the_trigger() -> None:
    desk = Desk(Plan.ocs(2, trigger=100, window=1000))
    assert desk.wants(7) == [0, 1]
    assert desk.delivers(0, 100) == []
    assert desk.delivers(1, 100) == [2, 3]
    assert desk.delivers(2, 100) == []
    assert desk.delivers(3, 100) == [], "two sets are open"
    assert desk.ends(0) == []
    assert desk.ends(1) == [4, 5]


def test_at_the_end_of_ocs_the_last_answers_share_the_window_of_a_set() -> None:
    desk = Desk(Plan.ocs(3, window=1000))
    assert desk.wants(4) == [0, 1, 2, 3]
    for number in range(3):
        assert desk.tickets[3].window == 1000 * (1, 1, 1.5)[number]
        desk.ends(number)
    assert desk.tickets[3].window == 3000
    assert desk.wants(3) == [4, 5, 6], "2 × 3 × 1000 bytes have room for three windows more"
    assert desk.wants(1) == []


def test_a_batch_starts_when_the_one_before_has_ended() -> None:
    desk = Desk(Plan.batches(2))
    assert desk.wants(5) == [0, 1]
    assert desk.ends(1) == []
    assert desk.ends(0) == [2, 3]
    assert desk.ends(2) == []
    assert desk.ends(3) == [4]
    assert desk.wants(1) == [5], "the batch is not full"
    assert desk.ends(4) == []
    assert desk.ends(5) == []
    assert desk.wants(2) == [6, 7], "nobody was under way"


def test_a_smaller_plan_waits_for_what_is_under_way() -> None:
    desk = Desk(Plan.fixed(4, window=1000))
    assert desk.wants(6) == [0, 1, 2, 3]
    desk.admission.plan = Plan.fixed(2, window=1500)
    assert [desk.ends(number) for number in range(3)] == [[], [], [4]]
    assert desk.admission.allotted == 2500


def test_the_sets_for_a_path_are_those_of_the_equations() -> None:
    plan = Plan.ocs_for(rate=1e9, base_rtt=100e-6, answer=65536)
    assert (plan.size, plan.sets, plan.window) == (2, 2, 5 * 1448)
    assert 0 < plan.trigger < 65536
    assert Plan.ocs_for(1e9, 100e-6, 32768, form="printed").trigger == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plan(size=0), "size is 0; must be at least 1"),
        (lambda: Plan(trigger=-1), "trigger is -1; must be at least 0"),
        (lambda: Plan(window=0), "window is 0; must be 1 to 1073741824 bytes"),
        (
            lambda: Plan.fixed(4, window=6000, budget=20000),
            "4 windows of 6000 bytes do not fit into the budget of 20000",
        ),
        (lambda: Plan(window=None, budget=9), "budget needs a window"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(make: Callable[[], Plan], message: str) -> None:
    with pytest.raises(PlanError) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_smaller_plan_bounds_those_who_join_an_open_batch() -> None:
    """If the limit falls from four answers to two, an open batch with one answer takes one more."""
    desk = Desk(Plan.batches(4, window=None))
    assert desk.wants(1) == [0]
    assert not desk.admission.full
    desk.admission.plan = Plan.batches(2, window=None)
    assert desk.wants(2) == [1]
    assert desk.admission.full
    assert desk.ends(0) == [2]
    desk.ends(1)
    desk.admission.plan = Plan.batches(1)
    assert desk.admission.full, "as many as allowed, although nobody waits"


class Waits:
    """An answer that has a ticket and no window."""

    def __init__(self) -> None:
        self.ticket = Ticket()

    def renew(self) -> None:
        raise AssertionError("no window changes")


@pytest.mark.parametrize(("arrived", "begins"), [([99], False), ([99, 1], True), ([101], True)])
def test_the_next_begins_when_the_trigger_is_reached(arrived: list[int], begins: bool) -> None:
    """The next answer starts when the trigger is reached exactly, not only when it is exceeded."""

    async def turns() -> bool:
        desk = Turns(Admission(Plan.nccs(2, trigger=100)), None)
        first, second = Waits(), Waits()
        await desk.begin(first)
        waiting = asyncio.create_task(desk.begin(second))
        await asyncio.sleep(0)
        assert not waiting.done()
        for count in arrived:
            desk.received(first.ticket, count)
        await asyncio.sleep(0)
        told = waiting.done()
        waiting.cancel()
        return told

    assert asyncio.run(turns()) is begins
