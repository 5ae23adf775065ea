"""The PFTK equation, compared with its limits, its worked values, and its sums."""

import math

import numpy as np
import pytest

from incast.models import padhye


def test_worked_values() -> None:
    full = padhye.throughput([0.01, 0.1], 2e-4, 0.2)
    short = padhye.approximate([0.01, 0.1], 2e-4, 0.2)
    assert full == pytest.approx([2595.5, 90.7], abs=0.05)
    assert short == pytest.approx([2597.9, 65.0], abs=0.05)
    assert padhye.throughput(0.001, 2e-4, 0.2, 20) == pytest.approx(24431, abs=1)
    assert padhye.approximate(0.001, 2e-4, 0.2, 20) == pytest.approx(59583, abs=1)


def test_without_losses_the_window_alone_limits() -> None:
    assert padhye.throughput([0, 1e-15], 1e-3, 0.2, 64) == pytest.approx(64_000)
    assert padhye.approximate(0, 1e-3, 0.2, 64) == pytest.approx(64_000)
    assert math.isinf(padhye.throughput(0, 1e-3, 0.2))


def test_with_every_packet_lost_each_waits_for_the_longest_timer() -> None:
    assert padhye.throughput(1.0, 1e-3, 0.2) == pytest.approx(1 / (64 * 0.2))


def test_few_losses_leave_the_square_root() -> None:
    for b in (1, 2):
        p = 1e-9
        rate = padhye.throughput(p, 1e-3, 0.0, ack_ratio=b)
        assert rate == pytest.approx(math.sqrt(3 / (2 * b * p)) / 1e-3, rel=1e-3)


def test_backed_off_timeouts_add_up() -> None:
    for p in (0.01, 0.1, 0.3):
        lengths = [2**k - 1 if k <= 6 else 63 + 64 * (k - 6) for k in range(1, 500)]
        mean = sum(p ** (k - 1) * (1 - p) * length for k, length in enumerate(lengths, 1))
        assert padhye.backoff(p) / (1 - p) == pytest.approx(mean)


def test_throughput_falls_with_losses_round_trips_and_timers() -> None:
    p = np.geomspace(1e-6, 0.999, 200)
    for limit in (8.0, 40.0, math.inf):
        rates = padhye.throughput(p, 2e-4, 0.2, limit)
        # The two forms of the equation differ slightly where the window limit takes effect.
        steps = rates[1:] / rates[:-1]
        assert np.all(steps < 1.06)
        assert np.count_nonzero(steps > 1) <= 1
        assert np.all(padhye.throughput(p, 4e-4, 0.2, limit) <= rates)
        assert np.all(padhye.throughput(p, 2e-4, 0.4, limit) <= rates)
    assert padhye.throughput(p[:, None], 2e-4, [0.2, 0.4]).shape == (200, 2)


def test_a_loss_is_a_probability() -> None:
    with pytest.raises(ValueError, match="loss"):
        padhye.throughput(1.1, 1e-3, 0.2)
