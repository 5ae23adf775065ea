"""The list of models, and the rules for every model."""

import math

import numpy as np
import pytest

import incast
from conftest import Command, document
from incast import models
from incast.errors import ModelError
from incast.models import MODELS, Answer, NotApplicable, Question, overflow

# Different kinds of scenarios; a model answers each of them or says why it does not apply.
SCENARIOS = {
    "plain": document(),
    "persistent": document(workload={"connections": "persistent", "servers": 64}),
    "wide": document(network={"client_rate": "10Gbps"}),
    "ecn": document(transport={"name": "dctcp"}),
    "paced": document(transport={"name": "bbr"}),
    "serial": document(transport={"name": "ocs", "rto_min": "1ms"}),
    "one": document(workload={"servers": 1}),
    "datagrams": document(network={"server_rate": "10Gbps"})
    | {"background": [{"name": "poisson", "rate": "300Mbps", "packet_size": 1000}]},
}
# Every key that a run can measure, with values that are consistent with each other.
MEASURED = {
    "loss_event_ratio": 0.003,
    "loss_indication_ratio": 0.009,
    "packet_loss_ratio": 0.02,
    "rtt_s": 3e-4,
    "timeout_s": math.nan,
    "block_head_timeouts": 1.5,
    "block_head_share": 0.6,
    "block_head_whole_share": 0.2,
    "knee": 3.0,
}


def points() -> list[Question]:
    scenarios = [incast.load(tree) for tree in SCENARIOS.values()]
    return [Question(it.plan.points[0].here, MEASURED) for it in scenarios]


def numbers(answer: Answer) -> dict[str, float]:
    assert not isinstance(answer, NotApplicable), answer
    return answer


def test_fewer_timeouts_at_the_head_of_blocks_leave_more_throughput() -> None:
    rates = {
        name: numbers(MODELS[name].answer_many(points())[1])[f"{name}.packets_per_s"]
        for name in ("kulkarni-td-only", "kulkarni-abtt-only-whole", "kulkarni-abtt-only")
    }
    assert [*rates.values()] == sorted(set(rates.values()), reverse=True)


@pytest.mark.parametrize("name", MODELS)
def test_a_model_answers_in_columns_or_says_why_not(name: str) -> None:
    model = MODELS[name]
    own = {f"{name}.{measure.name}" for measure in model.measures}
    answers = model.answer_many(points())
    assert any(not isinstance(answer, NotApplicable) for answer in answers)
    for answer in answers:
        if isinstance(answer, NotApplicable):
            assert answer.reason
            assert "\n" not in answer.reason
            continue
        assert answer.keys() <= models.COLUMNS | own
        assert all(isinstance(value, float) for value in answer.values())
        assert not any(math.isnan(value) for value in answer.values())


@pytest.mark.parametrize("name", MODELS)
def test_many_points_are_answered_as_each_alone(name: str) -> None:
    asked = points()
    alone = [MODELS[name].answer(question.point.tree, question.measured) for question in asked]
    assert MODELS[name].answer_many(asked) == alone
    assert MODELS[name].answer_many([]) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_model_without_what_it_needs_says_so(name: str) -> None:
    answer = MODELS[name].answer(points()[0].point.tree)
    if MODELS[name].needs:
        assert isinstance(answer, NotApplicable)
        assert MODELS[name].needs[0] in answer.reason


def test_a_capture_without_losses_told_is_answered_as_far_as_it_goes() -> None:
    point, unknown = points()[0].point.tree, MEASURED | {"packet_loss_ratio": math.nan}
    told = numbers(MODELS["kulkarni-split"].answer(point, unknown))
    known = numbers(MODELS["kulkarni-split"].answer(point, MEASURED))
    assert known["goodput_bps"] == pytest.approx(told["goodput_bps"] * 0.98)
    refused = MODELS["kulkarni-extended"].answer(point, unknown)
    assert refused == NotApplicable("the number of lost packets must be known")
    lossless = MODELS["kulkarni-full"].answer(point, MEASURED | {"loss_event_ratio": 0.0})
    assert isinstance(lossless, NotApplicable)


def test_models_are_listed_and_found(command: Command) -> None:
    listed = command("list", "models").out
    for model in MODELS.values():
        assert model.name in listed
        assert model.summary in listed
    assert models.find("overflow") is MODELS["overflow"]
    with pytest.raises(ModelError, match=r"choose from .*overflow"):
        models.find("crystal-ball")


def waiting(servers: int, window: int, ratio: float) -> int:
    """Count packet by packet how many packets wait at most during a burst."""
    worst = 0
    for sent in range(window):
        arrived = servers * (sent + 1)
        left = min(math.floor(ratio * sent + 1e-9), servers * sent)
        worst = max(worst, arrived - left - 1)
    return worst


@pytest.mark.parametrize("ratio", [1.0, 10.0, 0.1, 2.5])
def test_the_burst_is_counted_packet_by_packet(ratio: float) -> None:
    servers, windows = np.arange(1, 40), np.arange(1, 12)
    peaks = overflow.peak(servers[:, None], windows, ratio)
    for (i, j), peak in np.ndenumerate(peaks):
        assert peak == waiting(servers[i], windows[j], ratio)
    for places in (0, 8, 31, 100):
        safe = overflow.safe_servers(places, windows, ratio)
        for window, bound in zip(windows, safe, strict=True):
            fitting = [n for n in range(1, 200) if waiting(n, window, ratio) <= places]
            assert bound == max(fitting, default=0)


def test_the_numbers_of_the_literature_for_the_first_burst() -> None:
    assert overflow.safe_servers(32, 2) == 17
    assert overflow.safe_servers(40, 2) == 21
    assert overflow.lost(18, 2, 32) == 2


def test_the_first_burst_of_a_scenario_is_the_simulators() -> None:
    tree = document(
        network={"buffer": "32pkt"},
        workload={"sru": 2920, "blocks": 1, "request_size": 1},
        transport={"handshake": "none", "ack_size": 1, "rto_min": "1ms"},
        run={"seeds": 1},
        sweep={"workload.servers": [16, 17, 18, 24]},
    )
    scenario = incast.load(tree)
    drops = incast.run(scenario).frame()["drops"].to_list()
    answers = [MODELS["overflow"].answer(point.resolved) for point in scenario.plan.points]
    assert [numbers(answer)["overflow.safe_servers"] for answer in answers] == [17] * 4
    assert [numbers(answer)["overflow.lost_packets"] for answer in answers][:3] == drops[:3]
    assert drops[3] > 0
