"""Queues: closed forms, laws at extreme sizes, and simulations of the approximations."""

import heapq
from decimal import Decimal, getcontext
from itertools import pairwise

import numpy as np
import pytest

import incast
from conftest import document
from incast.models import MODELS, NotApplicable
from incast.models.numbers import Floats
from incast.models.queues import (
    MG1,
    MG1K,
    MM1K,
    Batch,
    Deterministic,
    Empirical,
    Erlang,
    Exponential,
    HyperExponential,
    MGn,
    MGnK,
    Service,
    md1k_blocking,
    smallest_buffer,
    smith_blocking,
)
from incast.models.registry import Answer

BURSTY = HyperExponential([0.9, 0.1], [0.5, 5.5])
SERVICES: dict[str, Service] = {
    "deterministic": Deterministic(1.0),
    "exponential": Exponential(1.0),
    "erlang": Erlang(4, 1.0),
    "hyperexponential": BURSTY,
    "empirical": Empirical([0.2, 0.2, 0.8, 2.8]),
}
LOADS = [0.5, 0.8, 0.95, 1.0, 1.2, 3.0]
some_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


def test_moments_of_service_times() -> None:
    assert (Deterministic(2.0).mean, Deterministic(2.0).scv) == (2.0, 0.0)
    assert (Exponential(2.0).mean, Exponential(2.0).scv) == (2.0, 1.0)
    assert Erlang(4, 2.0).scv == pytest.approx(0.25)
    assert BURSTY.mean == pytest.approx(1.0)
    assert BURSTY.scv == pytest.approx(5.5)
    samples = np.random.default_rng(1).lognormal(size=1000)
    assert Empirical(samples).mean == pytest.approx(samples.mean())
    assert Empirical(samples).scv == pytest.approx(samples.var() / samples.mean() ** 2)
    assert Empirical([1.0, 3.0], weights=[0.75, 0.25]).mean == 1.5


@some_service
def test_what_is_left_of_a_service_is_what_its_survival_says(service: Service) -> None:
    """P(S_e > t) is the integral of P(S > u) from t to infinity, divided by E[S]."""
    times = np.linspace(0, 60, 600_001)
    left = service.mixture.survival(times)
    assert left[0] == 1
    steps = (left[1:] + left[:-1]) / 2 * np.diff(times)
    integral = np.append(steps[::-1].cumsum()[::-1], 0.0)
    assert integral[0] == pytest.approx(service.mean, rel=1e-3)
    expected = integral / service.mean
    np.testing.assert_allclose(service.mixture.residual_survival(times), expected, atol=1e-4)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("capacity", [1, 2, 5, 20, 300])
def test_the_chain_is_mm1k_for_exponential_services(load: float, capacity: int) -> None:
    chain, closed = MG1K(load, Exponential(1.0), capacity), MM1K(load, 1.0, capacity)
    np.testing.assert_allclose(chain.pmf, closed.pmf, rtol=1e-10)
    # The textbook's formula, in exact arithmetic. The closed form is a stable version of it.
    getcontext().prec = 400
    rho = Decimal(load)
    exact = (1 - rho) * rho**capacity / (1 - rho ** (capacity + 1)) if rho != 1 else None
    exact = Decimal(1) / (capacity + 1) if exact is None else exact
    assert closed.blocking == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("load", LOADS[:-1])
@pytest.mark.parametrize("capacity", [1, 2, 5, 20, 60])
def test_the_chain_is_md1k_for_constant_services(load: float, capacity: int) -> None:
    chain = MG1K(load, Deterministic(1.0), capacity).blocking
    # 1 - b/(1 + rho b) loses digits if the loss is small, so small losses are compared absolutely.
    assert chain == pytest.approx(md1k_blocking(load, capacity), rel=1e-9, abs=1e-15)


def test_the_chain_is_takagis_in_exact_arithmetic() -> None:
    """The textbook's recursion loses digits by subtraction, so it is computed with 200 digits."""
    getcontext().prec = 200
    rate, capacity = Decimal("0.7"), 40
    times = {Decimal("0.5"): Decimal("0.8"), Decimal(3): Decimal("0.2")}

    def arriving(count: int) -> Decimal:
        total = Decimal(0)
        for time, weight in times.items():
            term = (-rate * time).exp()
            for i in range(1, count + 1):
                term *= rate * time / i
            total += weight * term
        return total

    a = [arriving(j) for j in range(capacity + 1)]
    pi = [Decimal(1)]
    for j in range(capacity - 1):
        rest = pi[0] * a[j] + sum(pi[i] * a[j - i + 1] for i in range(1, j + 1))
        pi.append((pi[j] - rest) / a[0])
    load = rate * sum(time * weight for time, weight in times.items())
    exact = 1 - 1 / (pi[0] / sum(pi) + load)
    service = Empirical([float(it) for it in times], weights=[float(it) for it in times.values()])
    assert MG1K(float(rate), service, capacity).blocking == pytest.approx(float(exact), rel=1e-12)


@some_service
@pytest.mark.parametrize("load", [0.5, 1.0, 1.2, 20.0])
def test_ten_thousand_places_are_no_trouble(service: Service, load: float) -> None:
    queue = MG1K(load, service, 10_000)
    assert (queue.pmf >= 0).all()
    assert queue.pmf.sum() == pytest.approx(1, abs=1e-12)
    assert max(0.0, 1 - 1 / load) - 1e-12 <= queue.blocking <= 1
    assert 0 <= queue.mean <= 10_000
    assert queue.variance >= 0
    # The packets that enter are those that are served.
    assert load * (1 - queue.blocking) == pytest.approx(1 - queue.pmf[0], rel=1e-12)


@some_service
@pytest.mark.parametrize("load", LOADS)
def test_more_places_lose_less(service: Service, load: float) -> None:
    for batch in (None, Batch.geometric(4))[: 2 if load == 0.95 else 1]:
        losses = [MG1K(load, service, k, batch).blocking for k in (*range(1, 20), 100, 101)]
        # A long queue gains nothing more, because the loss is at least 1 - 1/load.
        assert all(less <= more * (1 + 1e-12) for more, less in pairwise(losses))
        assert all(less < more for more, less in pairwise(losses[:12]))


@some_service
@pytest.mark.parametrize("load", [0.3, 0.8, 0.95])
def test_room_for_all_is_pollaczek_and_khinchine(service: Service, load: float) -> None:
    queue = MG1(load, service)
    tails = queue.tail(np.arange(6000))
    scv = service.scv
    assert queue.mean == pytest.approx(load + load**2 * (1 + scv) / (2 * (1 - load)))
    assert tails.sum() == pytest.approx(queue.mean)
    second = 2 * (np.arange(6000) * tails).sum() + tails.sum()
    assert second - tails.sum() ** 2 == pytest.approx(queue.variance)
    assert queue.tail(-1) == 1
    assert queue.tail(0) == pytest.approx(load)
    assert MG1K(load, service, 6000).mean == pytest.approx(queue.mean)


def test_tails_of_a_finite_queue() -> None:
    queue = MG1K(0.9, BURSTY, 12)
    np.testing.assert_allclose(queue.tail(np.arange(12)), 1 - queue.pmf.cumsum()[:12], atol=1e-14)
    assert queue.tail(11) == pytest.approx(queue.blocking)
    assert queue.tail([-1, 12, 1e9]) == pytest.approx([1, 0, 0])
    waiting = sum(p * max(j - 1, 0) for j, p in enumerate(queue.pmf))
    assert queue.mean_waiting == pytest.approx(waiting)


def simulate(
    rate: float, draw: Floats, batch: Batch | None, servers: int, capacity: int
) -> tuple[float, float]:
    """Return the share of lost packets, and the mean queue at the arrival of a batch."""
    rng = np.random.default_rng(7)
    sizes = np.ones(draw.size, int)
    if batch is not None:
        sizes = rng.choice(batch.pmf.size, p=batch.pmf, size=draw.size)
        rate /= batch.mean
    lost = found = used = offered = batches = 0
    clock = 0.0
    free, present = [0.0] * servers, list[float]()
    gaps = rng.exponential(1 / rate, draw.size)
    while max(used + capacity, batches) < draw.size:
        clock += gaps[batches]
        while present and present[0] <= clock:
            heapq.heappop(present)
        found += len(present)
        size = int(sizes[batches])
        accepted = min(size, capacity - len(present))
        for _ in range(accepted):
            end = max(heapq.heappop(free), clock) + draw[used]
            used += 1
            heapq.heappush(free, end)
            heapq.heappush(present, end)
        lost += size - accepted
        offered += size
        batches += 1
    return lost / offered, found / batches


def draws(service: Service, count: int) -> Floats:
    rng, parts = np.random.default_rng(3), service.mixture
    which = rng.choice(parts.weights.size, p=parts.weights, size=count)
    shapes, means = parts.shapes[which], parts.means[which]
    gamma = np.where(np.isinf(shapes), 1.0, shapes)
    return np.where(np.isinf(shapes), means, rng.gamma(gamma, means / gamma))


@pytest.mark.parametrize(
    ("service", "batch", "load", "capacity"),
    [
        (SERVICES["deterministic"], Batch.constant(4), 0.8, 10),
        (SERVICES["deterministic"], Batch.geometric(3), 0.95, 20),
        (SERVICES["empirical"], Batch.empirical([1, 1, 1, 8, 40]), 0.7, 30),
        (SERVICES["exponential"], Batch.constant(6), 1.3, 4),
        (BURSTY, Batch.geometric(5), 0.8, 15),
    ],
)
def test_batches_lose_what_a_simulation_loses(
    service: Service, batch: Batch, load: float, capacity: int
) -> None:
    queue = MG1K(load, service, capacity, batch)
    loss, found = simulate(load, draws(service, 100_000), batch, 1, capacity)
    # About 3 standard errors of these runs; the error is large because losses are clustered.
    assert loss == pytest.approx(queue.blocking, rel=0.05)
    assert found == pytest.approx(queue.mean, rel=0.05)


@some_service
def test_batches_of_one_are_packets(service: Service) -> None:
    for load in (0.6, 1.1):
        single, batches = (MG1K(load, service, 25, it) for it in (None, Batch.constant(1)))
        np.testing.assert_allclose(single.pmf, batches.pmf, rtol=1e-10)
        assert single.blocking == pytest.approx(batches.blocking)


def test_one_place_loses_all_of_a_batch_but_one() -> None:
    """With K = 1, one packet of a batch enters if the server is idle, otherwise none (Erlang B)."""
    for size in (1, 3, 10):
        load = 0.8
        queue = MG1K(load, BURSTY, 1, Batch.constant(size))
        entering = 1 / (1 + load / size) / size
        assert queue.blocking == pytest.approx(1 - entering)


@some_service
def test_what_enters_a_queue_with_batches_is_served(service: Service) -> None:
    for batch in (Batch.constant(4), Batch.geometric(2.5), Batch.empirical([1, 1, 30])):
        for load in (0.4, 2.0):
            for capacity in (1, 3, 50):
                queue = MG1K(load, service, capacity, batch)
                assert load * (1 - queue.blocking) == pytest.approx(1 - queue.pmf[0], rel=1e-9)


@some_service
def test_one_of_n_servers_is_exact(service: Service) -> None:
    for load in (0.5, 1.3):
        for capacity in (1, 2, 30):
            one = MGnK(load, service, 1, capacity)
            np.testing.assert_allclose(one.pmf, MG1K(load, service, capacity).pmf, atol=1e-8)


@pytest.mark.parametrize("servers", [2, 4, 16])
def test_exponential_services_at_n_servers_are_exact(servers: int) -> None:
    for load in (0.5, 0.95, 1.5):
        for capacity in (servers, servers + 1, servers + 40):
            births = [1.0]
            for j in range(1, capacity + 1):
                births.append(births[-1] * load * servers / min(j, servers))
            exact = np.array(births) / sum(births)
            queue = MGnK(load * servers, Exponential(1.0), servers, capacity)
            np.testing.assert_allclose(queue.pmf, exact, atol=1e-10)
    ample = MGnK(0.9 * servers, Exponential(1.0), servers, 2000)
    assert MGn(0.9 * servers, Exponential(1.0), servers).mean == pytest.approx(ample.mean)


@pytest.mark.parametrize(
    ("service", "servers", "capacity", "load"),
    [
        (SERVICES["deterministic"], 2, 5, 0.8),
        (SERVICES["deterministic"], 4, 8, 1.2),
        (BURSTY, 2, 6, 0.8),
        (BURSTY, 4, 12, 0.95),
    ],
)
def test_several_servers_are_approximated(
    service: Service, servers: int, capacity: int, load: float
) -> None:
    queue = MGnK(load * servers, service, servers, capacity)
    loss, _ = simulate(load * servers, draws(service, 100_000), None, servers, capacity)
    assert loss == pytest.approx(queue.blocking, rel=0.08)


def test_lee_and_longton_are_exact_for_one_server() -> None:
    assert MGn(0.8, BURSTY, 1).mean == pytest.approx(MG1(0.8, BURSTY).mean)


def test_smith_is_exact_for_exponential_services_only() -> None:
    for load in LOADS:
        for capacity in (1, 7, 50):
            exact = MM1K(load, 1.0, capacity).blocking
            assert smith_blocking(load, 1.0, capacity) == pytest.approx(exact)
    # The errors for constant services that the reference page states.
    exact = MG1K(0.95, Deterministic(1.0), 10).blocking
    assert smith_blocking(0.95, 0.0, 10) == pytest.approx(exact, rel=0.01)
    exact = MG1K(0.5, Deterministic(1.0), 20).blocking
    assert smith_blocking(0.5, 0.0, 20) > 20 * exact
    assert smith_blocking(3.0, 0.0, 10_000) == pytest.approx(2 / 3)
    near = [smith_blocking(load, 0.0, 50) for load in (1 - 1e-9, 1.0, 1 + 1e-9)]
    assert near == pytest.approx([near[1]] * 3)


@some_service
def test_the_smallest_buffer_is_the_smallest(service: Service) -> None:
    for load, target in ((0.5, 1e-9), (0.9, 0.4), (1.5, 0.35), (0.01, 0.5)):
        batch = Batch.geometric(2) if load == 0.9 else None
        places = smallest_buffer(MG1K(load, service, 1, batch), target)
        assert MG1K(load, service, places + 1, batch).blocking <= target
        assert places == 0 or MG1K(load, service, places, batch).blocking > target
    places = smallest_buffer(MGnK(3.6, service, 4, 4), 1e-2)
    assert MGnK(3.6, service, 4, places + 4).blocking <= 1e-2
    assert MGnK(3.6, service, 4, places + 3).blocking > 1e-2


def test_what_makes_no_queue_is_said() -> None:
    with pytest.raises(ValueError, match="must be above that"):
        smallest_buffer(MM1K(2.0, 1.0, 1), 0.5)
    with pytest.raises(ValueError, match="above 0 and below 1"):
        smallest_buffer(MM1K(0.5, 1.0, 1), 0.0)
    with pytest.raises(ValueError, match="capacity must be a whole number of at least 1"):
        MG1K(1.0, Deterministic(1.0), 0).blocking  # noqa: B018
    with pytest.raises(ValueError, match="at least 4"):
        MGnK(1.0, Deterministic(1.0), 4, 3).blocking  # noqa: B018
    with pytest.raises(ValueError, match="would fill any queue"):
        MG1(1.0, Deterministic(1.0)).mean  # noqa: B018
    with pytest.raises(ValueError, match="too many"):
        MG1K(201.0, Deterministic(1.0), 5).blocking  # noqa: B018
    with pytest.raises(ValueError, match="positive"):
        Deterministic(0.0).mean  # noqa: B018
    with pytest.raises(ValueError, match="sum to 1"):
        HyperExponential([0.5, 0.6], [1.0, 2.0]).mean  # noqa: B018
    for sizes in ([], [0], [1.5]):
        with pytest.raises(ValueError, match="whole numbers"):
            Batch.empirical(sizes)


def datagrams(**changes: object) -> dict[str, object]:
    """Return a scenario of Poisson datagrams, with a read that has no influence on them."""
    read = {"servers": 64, "sru": 1, "blocks": 1, "start_spread": "500ms"}
    network = {"server_rate": "1Tbps", "buffer": "7pkt"} | changes
    stream = {"name": "poisson", "rate": "800Mbps", "packet_size": 1000}
    return document(network=network, workload=read) | {"background": [stream]}


def test_the_edge_queue_is_the_simulators() -> None:
    scenario = incast.load(datagrams())
    answer = MODELS["edge-queue"].answer(scenario.plan.points[0].resolved)
    assert not isinstance(answer, NotApplicable)
    assert answer["edge-queue.loss"] == pytest.approx(md1k_blocking(0.8, 8))
    row = incast.run(scenario).frame().row(0, named=True)
    assert row["drop_ratio"] == pytest.approx(answer["edge-queue.loss"], rel=0.15)
    waiting = row["queue_mean_bytes"] / 1000
    assert waiting == pytest.approx(answer["edge-queue.mean_waiting"], rel=0.05)
    assert row["link_utilization"] == pytest.approx(answer["edge-queue.utilization"], rel=0.01)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"server_rate": "1Gbps"}, "limit the arrivals"),
        ({"queue": {"name": "red"}}, "must be 'drop-tail'"),
        ({"topology": "chain"}, "must be 'star', not 'chain'"),
    ],
)
def test_the_edge_queue_says_where_it_does_not_apply(changes: dict[str, object], said: str) -> None:
    point = incast.load(datagrams(**changes)).plan.points[0].resolved
    answer = MODELS["edge-queue"].answer(point)
    assert isinstance(answer, NotApplicable)
    assert said in answer.reason


def test_the_edge_queue_counts_the_sources_of_a_table() -> None:
    """Nine source links as fast as the client's link limit the arrivals, but ten do not."""
    ask = MODELS["edge-queue"].answer

    def answer(**changes: object) -> Answer:
        stream = {"name": "poisson", "rate": "80Mbps", "packet_size": 1000}
        tree = datagrams(server_rate="1Gbps") | {"background": [stream | changes]}
        return ask(incast.load(tree).plan.points[0].resolved)

    ten = answer(count=10)
    assert not isinstance(ten, NotApplicable)
    assert ten["edge-queue.loss"] == pytest.approx(md1k_blocking(0.8, 8))
    nine = answer(count=9)
    assert isinstance(nine, NotApplicable)
    assert "the links of 9 sources limit the arrivals" in nine.reason
    assert isinstance(answer(), NotApplicable)


def test_a_byte_buffer_holds_datagrams_of_one_size() -> None:
    ask = MODELS["edge-queue"].answer
    tree = datagrams(buffer=7999)
    six = ask(incast.load(datagrams(buffer="6pkt")).plan.points[0].resolved)
    counted = {"buffer_counts_in_service": True}
    assert ask(incast.load(tree).plan.points[0].resolved) == ask(
        incast.load(datagrams()).plan.points[0].resolved
    )
    assert ask(incast.load(datagrams(buffer=7999, **counted)).plan.points[0].resolved) == six
    small = {"name": "poisson", "rate": "8Mbps", "packet_size": 100}
    mixed = ask(
        incast.load(tree | {"background": [*tree["background"], small]}).plan.points[0].resolved
    )  # type: ignore[misc]
    assert isinstance(mixed, NotApplicable)
