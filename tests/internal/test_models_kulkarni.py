"""The equations of Kulkarni & Agrawal, chapter 3, derived again and compared with simulations."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from incast.models import padhye
from incast.models.kulkarni import (
    CORRECTED,
    PRINTED,
    Losses,
    Reading,
    flavours,
    rounds,
    scattered,
    throughput,
    timeouts,
    timeouts_per_packet,
)

CASES = [(1, 1, 1e-3), (4, 2, 2e-3), (10, 5, 5e-3), (20, 10, 1e-3), (50, 3, 0.02), (9, 9, 0.1)]


@pytest.fixture(scope="module")
def derived() -> Callable[[float, float, float], tuple[float, float]]:
    """Return E[X] and E[W] by (3.13), (3.12) and (3.17), solved by computer algebra."""
    import sympy

    n, j, p, x = sympy.symbols("n j p x", positive=True)
    k = sympy.Symbol("k", integer=True)
    m = sympy.Symbol("m", positive=True)
    flow = 2 * n * x / j
    earlier = sympy.summation(j * (flow / 2 + k * x), (k, 1, m - 1)).subs(m, n / j)
    window = sympy.expand(sympy.simplify(j * flow + earlier))
    assert sympy.simplify(window - (n * x / 2 + 3 * n**2 * x / (2 * j))) == 0  # (3.14)
    packets = (window - j * flow / 2 + n - j) * x + n * x**2 / 2 - n * x / 2  # (3.17)
    assert sympy.simplify(packets - (3 * n**2 * x**2 / (2 * j) + n * x / 2 - j * x)) == 0  # (3.18)
    numbers = sympy.lambdify((n, j, p, x), [packets - 1 / p, window])

    def solve(flows: float, hit: float, ratio: float) -> tuple[float, float]:
        from scipy.optimize import brentq

        root = brentq(lambda it: numbers(flows, hit, ratio, it)[0], 1e-9, 1e9, xtol=1e-15)
        return float(root), float(numbers(flows, hit, ratio, root)[1])

    return solve


@pytest.mark.parametrize(("n", "j", "p"), CASES)
def test_the_windows_are_those_of_the_derivation(
    derived: Callable[[float, float, float], tuple[float, float]], n: int, j: int, p: float
) -> None:
    interval, window = derived(n, j, p)
    assert rounds.rounds(n, j, p) == pytest.approx(interval, rel=1e-9)
    assert rounds.window(n, j, p) == pytest.approx(window, rel=1e-9)
    assert rounds.flow_window(n, j, p) == pytest.approx(2 * n * interval / j, rel=1e-9)


def test_the_printed_equations_follow_from_each_other() -> None:
    import sympy

    n, j, p = sympy.symbols("n j p", positive=True)
    root = sympy.sqrt(
        n**2 * p**2 * j**2 - 4 * n * p**2 * j**3 + 4 * j**4 * p**2 + 24 * n**2 * p * j
    )
    numerator = 2 * j**2 * p - n * p * j + root
    x = numerator / (6 * n**2 * p)  # (3.19)
    assert sympy.expand(3 * n**2 * x**2 / (2 * j) + n * x / 2 - j * x - 1 / p) == 0  # (3.18)
    window = numerator / (4 * p * j) + numerator / (12 * n * p)  # (3.20)
    assert sympy.simplify(window - (n * x / 2 + 3 * n**2 * x / (2 * j))) == 0  # (3.14)
    assert sympy.simplify(1 / (p * x) - 6 * n**2 / numerator) == 0  # (3.21)


@pytest.mark.parametrize(("n", "j", "p"), CASES)
def test_the_printed_root_is_the_stable_one(n: int, j: int, p: float) -> None:
    root = math.sqrt(n**2 * p**2 * j**2 - 4 * n * p**2 * j**3 + 4 * j**4 * p**2 + 24 * n**2 * p * j)
    printed = (2 * j**2 * p - n * p * j + root) / (6 * n**2 * p)  # (3.19)
    assert rounds.rounds(n, j, p) == pytest.approx(printed, rel=1e-9)
    bound = Losses(n, p, p * j, 2e-4)
    assert throughput(bound, "td-only") == pytest.approx(1 / (p * 2e-4 * printed))  # (3.21)


def test_limits_of_the_growth_without_timeouts() -> None:
    n, j, p = 12, 3, 1e-10
    assert 1 / rounds.rounds_per_packet(n, j, p) == pytest.approx(
        n * math.sqrt(3 / (2 * j * p)), rel=1e-4
    )
    one = throughput(Losses(1, 1e-3, 1e-3, 2e-4), "td-only")
    assert one == pytest.approx(6 / (1e-3 + math.sqrt(1e-6 + 24e-3)) / 2e-4)
    assert one == pytest.approx(192403, abs=1)
    # For large j·p and n, the printed root loses all digits; the root here still solves (3.18).
    n, j = 1e12, 1e6
    interval = float(rounds.rounds(n, j, 1.0))
    terms = [3 * n**2 * interval**2 / (2 * j), n * interval / 2, -j * interval, -1.0]
    assert abs(sum(terms)) < 1e-9 * max(map(abs, terms))
    assert math.isinf(throughput(Losses(4, 0.0, 0.0, 2e-4), "td-only"))


def halving(n: int, j: int, p: float, limit: float = math.inf) -> float:
    """Simulate the process of (3.21): j random flows halve at a loss. Return packets per round."""
    random = np.random.default_rng(1)
    runs, turns, settled = 100, 1500, 300
    windows = np.full((runs, n), 4.0)
    until_loss = random.geometric(p, runs).astype(float)
    packets = 0.0
    for turn in range(turns):
        sent = windows.sum(axis=1)
        packets += sent.sum() if turn >= settled else 0
        until_loss -= sent
        hit = until_loss <= 0
        luck = random.random((int(hit.sum()), n)).argsort(axis=1) < j
        windows[~hit] += 1
        windows[hit] = np.where(luck, np.maximum(windows[hit] / 2, 1), windows[hit] + 1)
        until_loss[hit] = random.geometric(p, hit.sum())
        np.minimum(windows, limit, out=windows)
    return packets / runs / (turns - settled)


# The ratio of the equation to the process. Approximations like E[X²] = E[X]² and (3.13) lower it.
@pytest.mark.parametrize(
    ("n", "j", "p", "low", "high"),
    [
        (1, 1, 1e-3, 0.92, 0.97),
        (4, 2, 2e-3, 0.86, 0.95),
        (20, 10, 1e-3, 0.84, 0.93),
        (10, 1, 1e-3, 0.75, 0.86),
    ],
)
def test_the_equation_lies_below_its_own_process(
    n: int, j: int, p: float, low: float, high: float
) -> None:
    ratio = 1 / float(rounds.rounds_per_packet(n, j, p)) / halving(n, j, p)
    assert low < ratio < high


@pytest.mark.parametrize("p", [1e-4, 1e-3])
def test_a_window_limit_is_that_of_the_process(p: float) -> None:
    simulated = halving(10, 2, p, limit=20)
    assert 1 / float(rounds.rounds_per_packet(10, 2, p, 20)) == pytest.approx(simulated, rel=0.02)


def test_a_window_limit_joins_where_it_begins_to_bind() -> None:
    p = np.geomspace(1e-6, 1e-2, 400)
    free, bound = rounds.rounds_per_packet(10, 2, p), rounds.rounds_per_packet(10, 2, p, 20)
    binds = 2 * 10 * free / (2 * p) > 20
    np.testing.assert_array_equal(bound[~binds], free[~binds])
    first = np.flatnonzero(binds)[-1]
    assert bound[first] == pytest.approx(free[first], rel=0.05)
    # Without losses, every flow sends as many packets per round as the limit allows.
    assert 1 / rounds.rounds_per_packet(10, 1, 0.0, 20) == pytest.approx(200)
    capped = Reading(window_limit=20, capacity=1000.0)
    assert throughput(Losses(10, 0.0, 0.0, 2e-4), "full", capped) == 1000.0


def summed(window: int, p: float, last: int) -> float:
    """Add up the terms of (3.34) for k up to `last`."""
    q = 1 - p
    ahead = [q**k * p / (1 - q**window) for k in range(last + 1)]
    late = sum(q**m * p for m in range(3))
    return sum(ahead[:3]) + sum(share * late for share in ahead[3:])


@pytest.mark.parametrize("p", [1e-6, 0.001, 0.01, 0.2, 0.5, 0.99])
@pytest.mark.parametrize("window", [4, 8, 20, 64])
def test_the_sums_of_the_timeouts(window: int, p: float) -> None:
    assert timeouts.inside(window, p) == pytest.approx(summed(window, p, window - 1), abs=1e-9)
    printed = timeouts.inside(window, p, "printed")
    assert printed == pytest.approx(summed(window, p, window), abs=1e-9)
    q = 1 - p
    late = sum(q**k * p / (1 - q**window) for k in range(3, window)) * (1 - q**3)
    assert timeouts.split_inside(2, window, p) == pytest.approx(p / (1 - q**window))
    assert timeouts.split_inside(4, window, p) == pytest.approx(late, abs=1e-9)


def test_errata_of_the_sums_in_numbers() -> None:
    assert timeouts.inside(4, 0.01) == pytest.approx(0.7611, abs=5e-5)
    assert timeouts.inside(4, 0.01, "printed") == pytest.approx(0.7683, abs=5e-5)
    assert timeouts.inside(4, 0.5, "printed") == pytest.approx(1.0208, abs=5e-5)
    assert timeouts.split_inside(10, 8, 0.01) == pytest.approx(0.0183, abs=5e-5)
    assert timeouts.split_inside(10, 8, 0.01, sums="printed") == pytest.approx(0.0218, abs=5e-5)
    assert timeouts.inside([1, 3, 3.5, 8], 0.0) == pytest.approx([1, 1, 3 / 3.5, 3 / 8])


def test_kinds_and_readings_keep_their_order() -> None:
    random = np.random.default_rng(7)
    p_c = 10 ** random.uniform(-5, -1, 300)
    n = random.integers(1, 100, 300)
    losses = Losses(
        n, p_c, np.minimum(p_c * random.uniform(0.5, 30, 300), 1), 2e-4, 0.2,
        random.uniform(0, 1, 300), n * 256,
    )  # fmt: skip
    value = {
        k: throughput(losses, k) for k in ("td-only", "full", "ibtt-only", "abtt-only", "split")
    }
    for each in value.values():
        assert np.all(np.isfinite(each))
        assert np.all(each > 0)
        assert np.all(each <= value["td-only"] * (1 + 1e-12))
    assert np.all(value["full"] <= np.minimum(value["ibtt-only"], value["abtt-only"]) * (1 + 1e-12))
    assert np.all(value["split"] >= value["full"] * (1 - 1e-12))
    for harsher in (Reading(flows="any"), Reading(backs_off=True), PRINTED):
        assert np.all(throughput(losses, "full", harsher) <= value["full"] * (1 + 1e-12))
    # A period ends with at most one timeout (3.31).
    assert np.all(timeouts_per_packet(losses, "full") <= p_c)


def test_the_full_model_by_hand() -> None:
    losses = Losses(10, 0.02, 0.1, 2e-4, 0.2, 0.5, 2560)
    size = float(rounds.flow_window(10, 5, 0.02))
    chance = min(1.0, summed_real(size, 0.1) + 0.5 * 50 / 2560)
    interval = float(rounds.rounds(10, 5, 0.02))
    assert throughput(losses, "full", CORRECTED) == pytest.approx(
        50 / (2e-4 * interval + chance * 0.2)
    )


def summed_real(window: float, p: float) -> float:
    q = 1 - p
    return min(1.0, (1 - q**3) * (1 + q**3 * (1 - q ** (window - 3))) / (1 - q**window))


def test_ratios_must_be_probabilities() -> None:
    with pytest.raises(ValueError, match="event_ratio"):
        throughput(Losses(2, 1.5, 0.1, 1e-3), "full")
    with pytest.raises(ValueError, match="indication_ratio"):
        throughput(Losses(2, 0.5, [0.1, -0.1], 1e-3), "full")


def recoveries(
    window: int, p: float, flavour: str, limited: bool, patience: float, turns: int = 40_000
) -> tuple[float, float]:
    """Simulate random packet losses; return the share of timeouts and the mean rounds of repair."""
    random = np.random.default_rng(window)

    def run_of(counts: np.ndarray) -> np.ndarray:
        """Return the number of packets that arrive before the first loss of each round."""
        lost = (random.random((len(counts), window)) < p) & (np.arange(window) < counts[:, None])
        return np.where(lost.any(axis=1), lost.argmax(axis=1), counts)

    first = run_of(np.full(int(turns * (1 + 1 / (1 - (1 - p) ** window))), window))
    first = first[first < window][:turns]
    second = run_of(first)
    arrives = random.random((2, len(first))) >= p
    helped = (second == 2) & arrives[0] | (second == 1) & arrives.all(axis=0)
    begins = (second >= 3) | (limited & helped)
    missing = window - second
    survive = (
        (random.random((len(first), window)) >= p) | (np.arange(window) >= missing[:, None])
    ).all(axis=1)
    stuck = {"reno": missing > 1, "newreno": missing > patience, "sack": missing < 0}[flavour]
    halves = np.where(missing > window / 2, 2, 1)
    in_rounds = {"reno": np.ones(len(first)), "newreno": missing, "sack": halves}[flavour]
    failed = ~(begins & ~stuck & survive)
    return float(failed.mean()), float(in_rounds[second >= 3].mean())


@pytest.mark.parametrize("flavour", ["reno", "newreno", "sack"])
@pytest.mark.parametrize(("window", "p"), [(6, 0.02), (12, 0.05), (25, 0.01), (25, 0.2)])
@pytest.mark.parametrize(("limited", "patience"), [(False, math.inf), (True, 9.0)])
def test_flavours_are_those_of_their_process(
    flavour: flavours.Flavour, window: int, p: float, limited: bool, patience: float
) -> None:
    simulated, in_rounds = recoveries(window, p, flavour, limited, patience)
    chance = flavours.timeout_probability(
        window, p, flavour, limited_transmit=limited, patience=patience
    )
    assert chance == pytest.approx(simulated, abs=4 * math.sqrt(0.25 / 40_000))
    if p < 0.2:
        assert flavours.recovery_rounds(window, p, flavour) == pytest.approx(in_rounds, rel=0.04)


def test_flavours_agree_with_the_text_where_nothing_else_is_lost() -> None:
    for window in (2, 3, 5, 9.5, 40):
        for p in (1e-9, 1e-3, 0.1, 0.9):
            begins = flavours.recovery_probability(window, p)
            assert begins == pytest.approx(1 - padhye.timeout_probability(window, p), abs=1e-9)
    p = np.geomspace(1e-6, 0.999, 60)
    for window in (4, 10.5, 64):
        reno, newreno, sack = (
            flavours.timeout_probability(window, p, name, patience=5)
            for name in ("reno", "newreno", "sack")
        )
        assert np.all(reno >= newreno - 1e-12)
        assert np.all(newreno >= sack - 1e-12)
        helped = flavours.timeout_probability(window, p, "sack", limited_transmit=True)
        assert np.all(helped <= sack + 1e-12)
    # Limited transmit cannot help if the whole window is lost.
    q = 0.99
    whole = 0.01 / (1 - q**20) + (1 - 0.01 / (1 - q**20)) * 0.01
    assert 1 - flavours.recovery_probability(20, 0.01, limited_transmit=True) > whole


@pytest.mark.parametrize(
    ("window", "p", "missing"), [(20, 0.01, 3.0), (8, 0.05, 4.0), (5, 0.1, 1.5)]
)
@pytest.mark.parametrize("limited", [False, True])
def test_scattered_losses_are_those_of_their_process(
    window: int, p: float, missing: float, limited: bool
) -> None:
    random = np.random.default_rng(window)
    turns = 40_000
    ahead = np.arange(window)
    chances = (1 - p) ** ahead
    chances /= chances.sum()
    k = random.choice(ahead, turns, p=chances)
    scatter = (missing - 1) / float(chances @ (window - ahead - 1))
    holes = 1 + random.binomial(window - k - 1, scatter)
    duplicates = window - k - holes + random.binomial(k, 1 - p)
    assert holes.mean() == pytest.approx(missing, rel=0.02)
    arrives = random.random((2, turns)) >= p
    helped = (duplicates == 1) & arrives.all(axis=0) | (duplicates == 2) & arrives.any(axis=0)
    begins = (duplicates >= 3) | (limited & helped)
    survive = random.random(turns) < (1 - p) ** holes
    simulated = 1 - float((begins & survive).mean())
    chance = scattered.timeout_probability(window, p, missing, limited_transmit=limited)
    assert chance == pytest.approx(simulated, abs=4 * math.sqrt(0.25 / turns))


def test_scattered_losses_at_their_limits() -> None:
    # A single loss, mostly far from the end of the window: only its retransmission may be lost.
    assert scattered.timeout_probability(200, 1e-6, 1.0) == pytest.approx(0, abs=1e-5)
    # If everything after the first loss is missing, the result is close to that of the text.
    for limited in (False, True):
        bursts = flavours.timeout_probability(12, 1e-3, "sack", limited_transmit=limited)
        all_lost = scattered.timeout_probability(12, 1e-3, 12.0, limited_transmit=limited)
        assert all_lost == pytest.approx(bursts, rel=0.02)
    assert scattered.timeout_probability(1, 0.1, 1.0) == 1.0
    assert scattered.timeout_probability([[4.0], [9.0]], [0.1, 0.2], 2.0).shape == (2, 2)
    kinds = [
        throughput(Losses(8, 0.005, 0.012, 3e-4, 0.2, 0.3, 2048, 3.0), kind, Reading(flows="any"))
        for kind in ("full", "scattered", "td-only")
    ]
    assert kinds == sorted(kinds)
