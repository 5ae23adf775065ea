"""Models, advice and real hosts serve TCP only; other transports are refused in one line."""

from typing import Any

import pytest

import incast
from conftest import document
from incast import ScenarioError
from incast.advise.case import case_of
from incast.errors import LiveError
from incast.live.machine import Machine
from incast.live.refuse import check
from incast.models import MODELS
from incast.models.registry import NotApplicable
from incast.scenario.resolved import Resolved


@pytest.fixture
def scenario(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 (a scenario)
    """Return a scenario with the fact that its transport belongs to the family `rdma`."""
    own: Any = vars(Resolved)["facts"]

    def facts(here: Resolved) -> dict[str, Any]:
        return {**own.func(here), "family": "rdma"}

    monkeypatch.setattr(Resolved, "facts", property(facts))
    return incast.load(document())


def _refusal(what: str) -> str:
    return (
        "transport.name: 'newreno' is of the family 'rdma', and "
        f"{what} is for TCP; write e.g. 'newreno'"
    )


def test_every_transport_of_today_is_tcp() -> None:
    here = incast.load(document()).plan.points[0].here
    assert (here.facts["family"], here.other_family("a model")) == ("tcp", None)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_does_not_apply(name: str, scenario: Any) -> None:  # noqa: ANN401
    answer = MODELS[name].answer(scenario.plan.points[0])
    assert answer == NotApplicable(_refusal("a model"))


def test_advice_and_real_hosts_refuse_it(scenario: Any) -> None:  # noqa: ANN401
    with pytest.raises(ScenarioError) as refused:
        case_of(scenario)
    assert str(refused.value).endswith(_refusal("advice"))
    with pytest.raises(LiveError) as unlike:
        check(scenario, Machine.here())
    assert str(unlike.value) == _refusal("live")
