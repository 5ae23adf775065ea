"""The values that `--set` parses."""

import pytest

import incast
from incast.scenario.override import parse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workload.servers=8", ("workload.servers", 8)),
        ("network.buffer=64KiB", ("network.buffer", "64KiB")),
        ("transport.rto_min = 200us", ("transport.rto_min", "200us")),
        ("transport.limited_transmit=false", ("transport.limited_transmit", False)),
        ("run.seeds=[1, 2]", ("run.seeds", [1, 2])),
        ('transport.name="newreno"', ("transport.name", "newreno")),
        ("title=a = b", ("title", "a = b")),
        ('network.queue={name="red", p=0.1}', ("network.queue", {"name": "red", "p": 0.1})),
    ],
)  # fmt: skip
def test_values_are_toml_where_they_can_be(text: str, expected: tuple[str, object]) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize("text", ["", "servers", "=8", "workload.servers=", "a..b=1", ".a=1"])
def test_other_shapes_are_refused(text: str) -> None:
    with pytest.raises(incast.ScenarioError, match="--set"):
        parse(text)
