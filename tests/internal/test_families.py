"""What serves TCP only refuses transports of other families in one line."""

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


def _of_another_family() -> Any:  # noqa: ANN401 (a scenario)
    """Return a scenario whose facts say that its transport is of the family `rdma`."""
    scenario = incast.load(document())
    for point in scenario.plan.points:
        vars(point.here)["facts"] = {**point.here.facts, "family": "rdma"}
    return scenario


def _refusal(what: str) -> str:
    return (
        "transport.name: 'newreno' is of the family 'rdma', and "
        f"{what} is for TCP; write e.g. 'newreno'"
    )


def test_every_transport_of_today_is_tcp() -> None:
    here = incast.load(document()).plan.points[0].here
    assert (here.facts["family"], here.other_family("a model")) == ("tcp", None)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_does_not_apply(name: str) -> None:
    answer = MODELS[name].answer(_of_another_family().plan.points[0])
    assert answer == NotApplicable(_refusal("a model"))


def test_advice_and_real_hosts_refuse_it() -> None:
    with pytest.raises(ScenarioError) as refused:
        case_of(_of_another_family())
    assert str(refused.value).endswith(_refusal("advice"))
    with pytest.raises(LiveError) as unlike:
        check(_of_another_family(), Machine.here())
    assert str(unlike.value) == _refusal("live")
