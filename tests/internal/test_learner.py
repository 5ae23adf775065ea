"""The plans that the client learns, with formulas in place of networks."""

from collections.abc import Callable

import pytest

from incast.client import SAFE_BUDGET, Plan
from incast.client.learner import LONGEST_REST, LOOK, Learner
from incast.client.sample import Meter, Sample

Network = Callable[[Plan], tuple[float, bool]]
"""A function of a plan that returns the goodput in bytes/s, and whether packets are lost."""
FULL = 12.5e6
"""100 Mbit/s in bytes per second."""


def path(round_trip: float, buffer: float) -> Network:
    """A link; the bytes in flight beyond its bandwidth-delay product wait in its queue."""

    def answers(plan: Plan) -> tuple[float, bool]:
        on_the_way = plan.slots * (plan.window or 65536)
        return min(FULL, on_the_way / round_trip), on_the_way > FULL * round_trip + buffer

    return answers


def slow_servers(rate: float) -> Network:
    return lambda plan: (min(FULL, plan.slots * rate), False)


def taught(learner: Learner, network: Network, looks: int) -> list[Plan]:
    """Give a learner `looks` measurements; return its plans."""
    plans = [learner.plan]
    for _ in range(looks):
        plan = learner.plan
        for _ in range(4 * LOOK + 4 * plan.slots):
            goodput, lost = network(plan)
            meter = Meter()
            meter.seconds, meter.received = 1.0, int(goodput)
            sample = Sample(65536, 0.02, 0.25 if lost else 0.001, int(lost))
            if learner.observe(sample, meter) != plan:
                break
        plans.append(learner.plan)
    return plans


def test_the_start_is_the_safe_budget_or_less() -> None:
    for budget in (None, 10**9, SAFE_BUDGET):
        assert Learner(budget).plan.allotted == SAFE_BUDGET
    assert Learner(10_000).plan == Plan.fixed(1, 5792)
    assert Learner(1000).plan == Plan.fixed(1, 1000)
    assert Learner(windows=False).plan == Plan.fixed(4, None)


def test_a_full_link_is_left_at_the_start_for_it_pays_nothing_to_have_more() -> None:
    plans = taught(Learner(), path(0.0003, 32768), 200)
    assert {it.slots * (it.window or 0) <= SAFE_BUDGET for it in plans} == {True}
    assert plans.count(Plan.fixed(4)) > 150


def test_a_long_path_is_filled_and_not_overfilled() -> None:
    network = path(0.02, 60_000)  # the bandwidth-delay product is 250 000 bytes
    plans = taught(Learner(), network, 200)
    assert network(plans[-1])[0] > 0.97 * FULL
    assert sum(network(plan)[1] for plan in plans) < 10
    assert not network(plans[-1])[1]


def test_slow_servers_are_asked_in_greater_numbers() -> None:
    network = slow_servers(FULL / 16)
    assert network(taught(Learner(), network, 100)[-1])[0] > 0.97 * FULL


def test_a_given_budget_is_never_exceeded() -> None:
    plans = taught(Learner(60_000), path(0.02, 60_000), 100)
    assert max(it.allotted or 0 for it in plans) <= 60_000
    assert plans[-1].allotted is not None
    assert plans[-1].allotted > 40_000


def test_a_buffer_that_is_smaller_than_safe_makes_the_plan_smaller() -> None:
    network = path(0.0003, 10_000)
    plans = taught(Learner(), network, 60)
    assert network(plans[0])[1]
    assert sum(network(plan)[1] for plan in plans) < 6
    assert not network(plans[-1])[1]


def test_what_was_too_much_once_is_tried_again_later() -> None:
    learner = Learner()
    taught(learner, path(0.0003, 2_000), 20)
    small = learner.plan.allotted or 0
    assert small < SAFE_BUDGET
    taught(learner, path(0.02, 60_000), 20 * LONGEST_REST)
    assert (learner.plan.allotted or 0) > SAFE_BUDGET


@pytest.mark.parametrize("windows", [True, False])
def test_no_goodput_is_no_error(windows: bool) -> None:
    taught(Learner(windows=windows), lambda _: (0.0, False), 20)


def test_servers_that_take_long_by_themselves_do_not_stall() -> None:
    learner, meter = Learner(), Meter()
    meter.seconds, meter.received = 1.0, 10**7
    for _ in range(100):
        learner.observe(Sample(65536, 0.5, 0.4), meter)
    assert learner.plan.allotted is not None
    assert learner.plan.slots >= 3


def test_no_more_slots_than_answers_that_are_wanted() -> None:
    learner = Learner()
    for _ in range(3000):
        meter = Meter()
        meter.seconds, meter.wanted = 1.0, 16
        meter.received = int(1e6 * min(learner.plan.slots, 16))
        learner.observe(Sample(65536, 0.02, 0.001), meter)
        assert learner.plan.slots <= 16
    assert learner.plan.slots == 16
