"""Fluid equations: the solver's order, steady states, and oscillations known in closed form."""

from math import acos, factorial, sqrt

import numpy as np
import pytest

from incast.models.fluid import (
    Dctcp,
    DropTail,
    Fixed,
    Link,
    Ramp,
    Reno,
    Threshold,
    dctcp_share,
    dctcp_swing,
    reno_at_full_buffer,
    reno_at_random_queue,
    reno_window,
    solve,
)
from incast.models.fluid.delay import integrate
from incast.models.queues import MG1K, Deterministic

AMPLE = Link(capacity=1e9, delay=100e-6, buffer=1e6)
TEN_GIGABIT = Link(capacity=1e10 / 12_000, delay=100e-6, buffer=1000)


def test_the_solver_is_of_fourth_order() -> None:
    def exact(t: float) -> float:
        """Return the solution of x'(t) = -x(t-1) by the method of steps; x(t) = 1 for t < 0."""
        return sum((-1) ** k * max(t - (k - 1), 0) ** k / factorial(k) for k in range(int(t) + 2))

    def error(steps: int) -> float:
        states = integrate(
            lambda t, x, past: (-past(t - 1)[0],), (1.0,), 5 * steps, 1 / steps, lambda x: x
        )
        return max(abs(x[0] - exact(i / steps)) for i, x in enumerate(states))

    assert error(10) < 1e-6
    assert error(10) / error(20) == pytest.approx(16, rel=0.1)


@pytest.mark.parametrize("share", [0.3, 0.05, 0.01])
def test_reno_rests_where_each_packet_is_lost_with_a_probability(share: float) -> None:
    found = solve(1, AMPLE, Reno(), Fixed(share), duration=0.015)
    assert found.window[-1] == pytest.approx(float(reno_window(share)), rel=1e-6)
    assert found.loss_ratio == pytest.approx(share)
    # The window settles without a queue, because the inflow stays below the capacity.
    assert found.queue.max() == 0
    assert found.throughput == pytest.approx((found.inflow * (1 - share)).mean())


def test_the_rate_equation_is_the_window_equation_with_a_fixed_round_trip() -> None:
    """The test integrates the rate equation itself: dx/dt = 1/T² - x(t) x(t-T) p(t-T)/2."""
    trip, share = 1e-3, 0.02
    step = trip / 20
    rates = integrate(
        lambda t, x, past: (1 / trip**2 - x[0] * past(t - trip)[0] * share / 2,),
        (1 / trip,),
        600,
        step,
        lambda x: x,
    )
    link = Link(capacity=2e4, delay=trip, buffer=50, fixed_round_trip=True)
    found = solve(1, link, Reno(), Fixed(share), duration=600 * step)
    np.testing.assert_allclose(found.window / trip, [x[0] for x in rates], rtol=1e-9)
    assert rates[-1][0] == pytest.approx(sqrt(2 / share) / trip, rel=0.01)


@pytest.mark.parametrize("flows", [50, 100])
def test_short_windows_rest_at_a_full_buffer(flows: int) -> None:
    link = Link(capacity=83_333, delay=100e-6, buffer=100)
    rest = reno_at_full_buffer(flows, link)
    found = solve(flows, link, Reno(), DropTail(), duration=0.12).after(0.1)
    assert found.window == pytest.approx(rest.window, rel=1e-3)
    assert found.queue == pytest.approx(100)
    assert found.loss_ratio == pytest.approx(rest.share, rel=1e-3)
    assert found.throughput == pytest.approx(link.capacity)
    assert flows * rest.window / link.round_trip(100) == pytest.approx(rest.load * link.capacity)


def test_long_windows_do_not_rest() -> None:
    """Tests one window on each side of the window at which the linear equation becomes unstable."""

    def stable(window: float) -> bool:
        return sqrt(window**2 / 4 - window**-2) < acos(-2 / window**2)

    link = Link(capacity=83_333, delay=100e-6, buffer=100)
    for flows, settles in ((42, True), (32, False)):
        rest = reno_at_full_buffer(flows, link)
        assert stable(rest.window) == settles
        found = solve(flows, link, Reno(), DropTail(), duration=0.1, window=rest.window * 1.01)
        assert (found.after(0.08).window.std() < 0.003 * rest.window) == settles


def test_reno_behind_a_random_queue() -> None:
    link = Link(capacity=83_333, delay=100e-6, buffer=30)
    for flows in (4, 20, 100):
        rest = reno_at_random_queue(flows, link)
        queue = MG1K(rest.load * link.capacity, Deterministic(1 / link.capacity), 31)
        assert rest.share == pytest.approx(queue.blocking)
        assert rest.window == pytest.approx(sqrt(2 / rest.share))
        accepted = rest.load * (1 - rest.share) * link.capacity
        trip = link.delay + queue.mean_waiting / accepted
        assert flows * rest.window / trip == pytest.approx(rest.load * link.capacity)
    shares = [reno_at_random_queue(n, link).share for n in (2, 8, 32, 128)]
    assert shares == sorted(shares)
    fixed = Link(link.capacity, link.delay, link.buffer, fixed_round_trip=True)
    rest = reno_at_random_queue(20, fixed)
    assert 20 * rest.window / link.delay == pytest.approx(rest.load * link.capacity)


def test_dctcp_rests_where_marking_is_gradual() -> None:
    found = solve(4, TEN_GIGABIT, Dctcp(), Ramp(0, 200), duration=0.08)
    window, share = found.window[-1], found.signalled[-1]
    assert found.alpha[-1] == pytest.approx(share, rel=1e-4)
    assert share == pytest.approx(float(dctcp_share(window)), rel=1e-4)
    assert found.queue[-1] == pytest.approx(200 * share)
    pipe = TEN_GIGABIT.capacity * TEN_GIGABIT.delay
    assert 4 * window == pytest.approx(pipe + found.queue[-1], rel=1e-4)


@pytest.mark.parametrize(("flows", "threshold"), [(2, 65), (20, 65)])
def test_dctcp_swings_as_published(flows: int, threshold: float) -> None:
    found = solve(flows, TEN_GIGABIT, Dctcp(), Threshold(threshold), duration=0.03).after(0.015)
    pipe = TEN_GIGABIT.capacity * TEN_GIGABIT.delay
    longest, amplitude = dctcp_swing(flows, pipe, threshold)
    assert found.queue.max() == pytest.approx(float(longest), rel=0.06)
    # The published sawtooth falls at one moment, a round trip later. The fluid falls gradually,
    # while marks arrive.
    assert found.queue.max() - found.queue.min() == pytest.approx(float(amplitude), rel=0.3)
    assert found.alpha.mean() == pytest.approx(float(dctcp_share(found.window.mean())), rel=0.03)
    assert found.throughput == pytest.approx(TEN_GIGABIT.capacity)
    assert found.loss_ratio == 0


def test_steps_hardly_matter() -> None:
    coarse, fine = (
        solve(
            4, TEN_GIGABIT, Dctcp(), Threshold(40), duration=0.02, steps_per_round_trip=steps
        ).after(0.01)
        for steps in (20, 60)
    )
    assert coarse.queue.mean() == pytest.approx(fine.queue.mean(), rel=0.02)
    assert coarse.alpha.mean() == pytest.approx(fine.alpha.mean(), rel=0.02)


def test_what_makes_no_network_is_said() -> None:
    with pytest.raises(ValueError, match="positive"):
        solve(0, AMPLE, Reno(), DropTail(), duration=1)
    with pytest.raises(ValueError, match="at least 2"):
        solve(1, AMPLE, Reno(), DropTail(), duration=1, steps_per_round_trip=1)
