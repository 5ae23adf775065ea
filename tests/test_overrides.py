"""`--set`: single keys changed on the command line."""

import pytest

import incast
from conftest import document


def sweep_of(scenario: incast.Scenario) -> list[dict[str, object]]:
    return [point.swept for point in scenario.plan.points]


def test_a_fixed_value_ends_the_sweep_of_its_key() -> None:
    scenario = incast.load(
        document(sweep={"workload.servers": [2, 4], "transport.mss": [500, 1000]})
    )
    assert sweep_of(scenario.override("workload.servers", 3)) == [
        {"transport.mss": 500},
        {"transport.mss": 1000},
    ]


def test_a_list_replaces_the_axis_of_its_key() -> None:
    scenario = incast.load(document(sweep={"workload": {"servers": [2, 4]}}))
    assert sweep_of(scenario.override("workload.servers", [8])) == [{"workload.servers": 8}]


def test_a_paired_axis_can_be_fixed_too() -> None:
    pairs = {"zip": [{"workload.servers": [2, 4], "transport.mss": [500, 1000]}]}
    scenario = incast.load(document(sweep=pairs))
    assert sweep_of(scenario.override("transport.mss", 700)) == [
        {"workload.servers": 2},
        {"workload.servers": 4},
    ]
    both = scenario.override("transport.mss", 700).override("workload.servers", 3)
    assert "sweep" not in both.document


def test_an_axis_can_be_added() -> None:
    scenario = incast.load(document()).override("sweep.workload.servers", [2, 3])
    assert sweep_of(scenario) == [{"workload.servers": 2}, {"workload.servers": 3}]


def test_entries_of_lists_have_numbers() -> None:
    tree = document()
    tree["background"] = [{"name": "cbr", "rate": "1Mbps"}]
    scenario = incast.load(tree).override("background.0.rate", "2Mbps")
    assert scenario.document["background"][0]["rate"] == "2Mbps"
    with pytest.raises(incast.ScenarioError, match="'1' is not one of the 1 entries"):
        scenario.override("background.1.rate", "2Mbps")
    with pytest.raises(incast.ScenarioError, match="no entry 0, because there is no list"):
        incast.load(document()).override("background.0.rate", "2Mbps")


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("network.bufer", "1MiB", 'network.bufer: unknown key; did you mean "network.buffer"'),
        ("bufer", "1MiB", 'bufer: unknown key; did you mean "network.buffer"'),
        ("sweep.network.bufer", ["1MiB"], 'unknown key; did you mean "network.buffer"'),
        ("nettwork.buffer", "1MiB", 'nettwork: unknown key; did you mean "network"'),
        ("run.precison", 0.1, 'run.precison: unknown key; did you mean "run.precision"'),
        ("transport.rto_mn", ["1ms"], 'unknown key; did you mean "transport.rto_min"'),
        ("network.zzz", 3, "network.zzz: unknown key; accepted: topology, "),
    ],
)
def test_an_unknown_key_is_refused_at_once(key: str, value: object, why: str) -> None:
    with pytest.raises(incast.ScenarioError) as error:
        incast.load(document()).override(key, value)
    assert why in str(error.value)


def test_the_order_of_overrides_does_not_matter() -> None:
    """A key of a queue other than the default may be set before the queue's name is set."""
    scenario = incast.load(document())
    changed = scenario.override("network.queue.threshold", "20pkt").override(
        "network.queue.name", "ecn-threshold"
    )
    assert changed.plan.points[0].resolved["network"]["queue"]["name"] == "ecn-threshold"


def test_seeds_of_a_run() -> None:
    rows = incast.run(document(), seeds=3, jobs=1).frame()
    assert rows["seed"].to_list() == [1, 2, 3]
    assert incast.run(document(), seeds=[7]).frame()["seed"].to_list() == [7]
    with pytest.raises(incast.ScenarioError, match=r"run\.seeds"):
        incast.run(document(), seeds=0)
