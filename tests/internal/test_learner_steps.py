"""Each step of the learner: the exact plan that follows from given measurements."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from incast.client import Plan
from incast.client.learner import Learner, Size, Way
from incast.client.sample import Meter, Sample

BASE = (4, 5792)
SLOTS_DOWN, WINDOW_DOWN = (3, 5792), (4, 4344)
SLOTS_UP, WINDOW_UP = (6, 5792), (4, 8688)


@pytest.mark.parametrize(
    ("size", "factor", "way", "then"),
    [
        ((4, 5792), 0.75, Way.SLOTS, (3, 5792)),
        ((5, 5792), 0.75, Way.SLOTS, (3, 5792)),
        ((4, 5792), 1.5, Way.SLOTS, (6, 5792)),
        ((3, 5792), 1.5, Way.SLOTS, (5, 5792)),
        ((1, 5792), 0.75, Way.SLOTS, (1, 5792)),
        ((1, 5792), 1.5, Way.SLOTS, (2, 5792)),
        ((2, 5792), 1.0, Way.SLOTS, (2, 5792)),
        ((170, 5792), 1.5, Way.SLOTS, (255, 5792)),
        ((171, 5792), 1.5, Way.SLOTS, (256, 5792)),
        ((256, None), 1.5, Way.SLOTS, (256, None)),
        ((4, 5792), 0.75, Way.WINDOW, (4, 4344)),
        ((4, 5792), 1.5, Way.WINDOW, (4, 8688)),
        ((4, 4001), 0.75, Way.WINDOW, (4, 3000)),
        ((4, 3861), 0.75, Way.WINDOW, (4, 2896)),
        ((4, 3000), 0.75, Way.WINDOW, (4, 2896)),
        ((4, 2_796_202), 1.5, Way.WINDOW, (4, 4_194_303)),
        ((4, 4_000_000), 1.5, Way.WINDOW, (4, 4_194_304)),
        ((4, None), 1.5, Way.WINDOW, (4, None)),
    ],
)
def test_a_step_is_a_factor_within_bounds(
    size: tuple[int, int | None], factor: float, way: Way, then: tuple[int, int | None]
) -> None:
    assert Size(*size).times(factor, way) == Size(*then)


def test_a_budget_is_in_bytes_or_in_answers() -> None:
    assert (Size(3, 1000).budget, Size(3, None).budget) == (3000, 3)
    assert Size(3, 1000).plan() == Plan.fixed(3, 1000)


def see(
    learner: Learner,
    count: int,
    *,
    goodput: float = 1000.0,
    seconds: float = 1.0,
    gap: float = 0.0,
    lost: int = 0,
    wanted: int = 0,
) -> tuple[int, int | None]:
    """Give the learner `count` equal answers in one measurement; return its plan."""
    meter = Meter()
    learner._gaps.extend([0.0] * 9)  # the usual gap is 0
    meter.seconds, meter.received, meter.wanted = seconds, int(goodput * seconds), wanted
    for _ in range(count):
        learner.observe(Sample(10**6, 0.02, gap, lost), meter)
    return learner.plan.slots, learner.plan.window


def walk(goodput: Callable[[int, int], float], looks: int) -> list[tuple[int, int]]:
    """Return the plans of several measurements with a goodput that depends on the plan."""
    learner = Learner()
    plans = []
    for _ in range(looks):
        slots, window = learner.plan.slots, learner.plan.window or 0
        plans.append((slots, window))
        see(learner, max(32, 4 * slots), goodput=goodput(slots, window))
    return plans


@pytest.mark.parametrize(
    ("count", "seconds", "goodput", "then"),
    [
        (31, 1.0, 1000.0, BASE),
        (32, 1.0, 1000.0, SLOTS_DOWN),
        (32, 0.1, 1000.0, SLOTS_DOWN),
        (32, 0.0999, 1000.0, BASE),
        (32, 1.0, 0.0, BASE),
    ],
)
def test_a_measurement_has_32_answers_a_tenth_of_a_second_and_data(
    count: int, seconds: float, goodput: float, then: tuple[int, int]
) -> None:
    assert see(Learner(), count, seconds=seconds, goodput=goodput) == then


def test_a_measurement_has_four_answers_of_each_slot() -> None:
    learner = Learner()
    learner._base = learner._trial = Size(16, 5792)
    see(learner, 63)
    assert learner.plan.slots == 4, "the plan in force is still the first"
    assert see(learner, 1) == (12, 5792)


@pytest.mark.parametrize(
    ("of_slots", "of_window", "tried"),
    [
        # With a plan smaller by a quarter, goodput may fall by 0.3 of a quarter: 7.5 %.
        (0.926, 0.926, []),
        (0.924, 0.926, [SLOTS_UP]),
        (0.926, 0.924, [WINDOW_UP]),
        (0.924, 0.924, [SLOTS_UP, WINDOW_UP]),
    ],
)
def test_a_smaller_plan_that_is_slower_leads_to_a_larger_one(
    of_slots: float, of_window: float, tried: list[tuple[int, int]]
) -> None:
    shares = {SLOTS_DOWN: of_slots, WINDOW_DOWN: of_window}
    plans = walk(lambda *size: 1e6 * shares.get(size, 1.0), 12)
    larger = [plan for pair in [[one, BASE] for one in tried] for plan in pair]
    steps = [BASE, SLOTS_DOWN, BASE, WINDOW_DOWN, BASE, *larger]
    assert plans == (steps + [BASE] * 12)[:12]


@pytest.mark.parametrize(("gain", "kept"), [(1.029, False), (1.031, True)])
def test_a_larger_plan_is_kept_if_it_gains_more_than_three_per_cent(
    gain: float, kept: bool
) -> None:
    shares = {SLOTS_DOWN: 0.8, SLOTS_UP: gain, (9, 5792): gain}
    plans = walk(lambda *size: 1e6 * shares.get(size, 1.0), 8)
    assert plans[:6] == [BASE, SLOTS_DOWN, BASE, WINDOW_DOWN, BASE, SLOTS_UP]
    assert plans[6:] == ([(9, 5792), SLOTS_UP] if kept else [BASE, BASE])


def test_pauses_between_trials_double_up_to_64_measurements() -> None:
    plans = walk(lambda *_: 1e6, 400)
    trials = [place for place, plan in enumerate(plans) if plan == SLOTS_DOWN]
    gaps = [later - earlier for earlier, later in pairwise(trials)]
    # Besides the pause, there are two trials and three measurements of the base.
    assert gaps == [5 + pause for pause in (8, 16, 32, 64, 64, 64, 64)]


@pytest.mark.parametrize(
    ("gaps", "stalls"),
    [
        ([0.0, 0.15], False),
        ([0.0, 0.151], True),
        ([0.016, 0.016, 0.159], False),
        ([0.016, 0.016, 0.161], True),
        ([0.151], True),
    ],
)
def test_a_stall_is_long_and_unusual(gaps: list[float], stalls: bool) -> None:
    learner = Learner()
    learner._gaps.extend(gaps[:-1])
    assert learner._has_stalled(gaps[-1]) is stalls


def test_the_usual_gap_is_that_of_the_last_64_answers() -> None:
    learner = Learner()
    learner._gaps.extend([0.001] * 33 + [0.1] * 33)
    assert not learner._has_stalled(0.4), "more than half of the last 64 are long"
    learner._gaps.extend([0.001] * 32)
    assert learner._has_stalled(0.6)


@pytest.mark.parametrize(
    ("stalls", "lost", "then"),
    [(1, 0, BASE), (2, 0, (2, 5792)), (0, 3, BASE), (0, 4, (2, 5792)), (1, 3, BASE)],
)
def test_the_base_is_halved_by_two_stalls_or_a_tenth_of_losses(
    stalls: int, lost: int, then: tuple[int, int]
) -> None:
    learner = Learner()
    see(learner, lost, lost=1)
    assert see(learner, stalls, gap=0.2) == then


@pytest.mark.parametrize(("stalls", "lost", "then"), [(1, 0, BASE), (0, 3, SLOTS_UP), (0, 4, BASE)])
def test_a_larger_plan_is_left_at_its_first_stall(
    stalls: int, lost: int, then: tuple[int, int]
) -> None:
    learner = Learner()
    learner._trial = Size(*SLOTS_UP)
    learner.plan = learner._trial.plan()
    see(learner, lost, lost=1)
    assert see(learner, stalls, gap=0.2) == then


@pytest.mark.parametrize(
    ("base", "then"),
    [
        ((4, 5792), (2, 5792)),
        ((4, 5793), (4, 2896)),
        ((4, 8688), (4, 4344)),
        ((1, 5792), (1, 2896)),
        ((1, 2896), (1, 2896)),
    ],
)
def test_a_base_that_loses_is_halved(base: tuple[int, int], then: tuple[int, int]) -> None:
    learner = Learner()
    learner._base = learner._trial = Size(*base)
    assert see(learner, 2, gap=0.2) == then


def test_a_plan_that_lost_is_not_tried_again_until_the_limit_has_grown() -> None:
    learner = Learner()
    learner._base, learner._trial, learner._ceiling = Size(*BASE), Size(*BASE), 34752.0
    assert not learner._may(Size(*SLOTS_UP)), "34 752 bytes are as many"
    assert learner._may(Size(5, 5792))
    assert learner._may(Size(*SLOTS_DOWN))


@pytest.mark.parametrize(
    ("largest", "may"), [(5791, False), (5792, True), (100, False), (10**6, True)]
)
def test_a_window_larger_than_answers_is_not_tried(largest: int, may: bool) -> None:
    """The larger window is 8688 bytes, 1.5 times 5792."""
    learner = Learner()
    learner._largest = largest
    assert learner._may(Size(*WINDOW_UP)) is may
    assert learner._may(Size(6, 8688)), "with more slots it is another question"


@pytest.mark.parametrize(("budget", "may"), [(34751, False), (34752, True), (None, True)])
def test_no_plan_is_beyond_the_budget(budget: int | None, may: bool) -> None:
    learner = Learner(budget)
    assert learner._may(Size(*SLOTS_UP)) is may


@pytest.mark.parametrize(
    ("budget", "plan"),
    [
        (23168, Plan.fixed(4, 5792)),
        (23167, Plan.fixed(3, 5792)),
        (5791, Plan.fixed(1, 5791)),
        (5793, Plan.fixed(1, 5792)),
    ],
)
def test_the_first_plan_fits_into_the_budget(budget: int, plan: Plan) -> None:
    assert Learner(budget).plan == plan
    assert Learner(budget, windows=False).plan == Plan.fixed(4, None)
