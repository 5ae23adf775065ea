"""Arithmetic and text of scenarios: reads without losses, and values as people write them."""

from typing import Any

import polars as pl
import pytest

import incast
from conftest import document
from incast.advise.case import case_of
from incast.advise.limit import limit_of
from incast.results.series import axis_of, label_of, ordered, split, written
from incast.scenario import precision, schema
from incast.scenario.lossless import Lossless, block_bits, lossless_goodput

INF = float("inf")
PLAIN = {
    "servers": 4, "segments": 10, "data": 10.0, "own": 1.0, "shared": 1.0, "trip": 0.5,
    "greeting": 0.0, "late": 0.0, "initial": 10, "most": 10, "blocks": INF,
}  # fmt: skip
"""The unit of times is the transmission time of a packet on the client's link."""


@pytest.mark.parametrize(
    ("changes", "time"),
    [
        # Forty packets one after the other, and the round trip of the first.
        ({}, 39 + 0.5),
        ({"servers": 1}, 9 + 0.5),
        # The servers' links are ten times as slow: the server that is asked last decides.
        ({"own": 10.0}, 90 + 0.5),
        ({"own": 10.0, "late": 3.0}, 3 + 90 + 0.5),
        ({"late": 3.0}, 39 + 0.5),
        # Windows of two: four round trips of 30. In each, a server's link is idle for 30 - 2 = 28,
        # the client's link for 30 - 8 = 22.
        ({"trip": 30.0, "most": 2, "initial": 2}, max(4 * 28 + 9, 4 * 22 + 39) + 30),
        # Windows of two, of four, and of the rest. A server's link is idle for 28 and 26, the
        # client's link for 22 and 14.
        ({"trip": 30.0, "initial": 2, "blocks": 1}, max(28 + 26 + 9, 22 + 14 + 39) + 30),
        # Connections open once in four blocks; the handshake takes seven.
        ({"initial": 10, "greeting": 7.0, "blocks": 4}, 39.5 + 7 / 4),
        # One packet more than a window: one round trip, in which a server sends ten packets, and
        # all servers send forty.
        ({"segments": 11, "data": 11.0, "trip": 30.0}, max(20 + 10, 43) + 30),
        ({"servers": 1, "segments": 11, "data": 11.0, "trip": 30.0, "late": 5.0}, 5 + 20 + 10 + 30),
    ],
)
def test_a_block_without_losses_takes_what_the_links_need(
    changes: dict[str, float], time: float
) -> None:
    assert float(Lossless(**PLAIN | changes).time) == pytest.approx(time)  # type: ignore[arg-type]


def test_goodput_without_losses_is_bits_over_time() -> None:
    here = incast.load(document()).plan.points[0].here
    assert block_bits(here) == 4 * 16384 * 8
    goodput = lossless_goodput(here)
    # At most 1460 of 1500 bytes at 1 Gbit/s. Round trips and handshakes lower the goodput.
    assert 0.5 * 1460 / 1500 < goodput / 1e9 < 1460 / 1500


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"name": "red", "p": 0.5}, "name red, p 0.5"),
        ([], "none"),
        (True, "true"),
        ("1048576B", "1MiB"), ("2097152B", "2MiB"), ("1048577B", "718.203seg"), ("2920B", "2seg"),
        ("1000000000bps", "1Gbps"), ("999000000bps", "999Mbps"), ("1500bps", "1.5kbps"),
        ("999bps", "999bps"),
        (2048, "2KiB"), (2049, "2049"), (1460, "1460"), (0, "0"), (-1024, "-1024"),
        ("0.2s", "200ms"), ("0.001s", "1ms"), ("0.0009s", "900us"), ("0.0000001s", "100ns"),
        ("0.0000000005s", "500ps"), ("1s", "1s"), ("1.5s", "1.5s"), ("0s", "0s"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_people_write_it(value: object, text: str) -> None:
    assert schema.human(value, 1460) == text


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({"minimum": 1}, "at least 1"),
        ({"minimum": 0}, ""),
        ({"exclusiveMinimum": 0.5, "maximum": 2}, "above 0.5, at most 2"),
        ({"exclusiveMaximum": 3}, "below 3"),
        ({"minimum": 1, "description": "Some, 2 to 5 of them."}, "2 to 5"),
        ({"minimum": 1, "description": "Some (2 to 5 of them)."}, "at least 1"),
        ({"description": "A time (its (inner) 1 to 2), above 3."}, "above 3"),
    ],
)
def test_a_range_is_that_of_the_text_or_of_the_schema(about: dict[str, Any], text: str) -> None:
    assert schema.bounds(about) == text


@pytest.mark.parametrize(
    ("columns", "axis"),
    [
        ({"a": [1, 2], "workload.servers": [4, 8]}, "workload.servers"),
        ({"a": ["x", "y"], "b": [1, 2]}, "b"),
        ({"a": ["x", "y"], "b": [1, 1]}, "a"),
        ({"a": ["x", "x"], "workload.servers": [4, 4]}, None),
    ],
)
def test_the_axis_is_the_servers_or_the_first_number(
    columns: dict[str, list[Any]], axis: str | None
) -> None:
    assert axis_of(pl.DataFrame(columns)) == axis


def test_curves_have_what_the_axis_does_not_fix() -> None:
    rows = pl.DataFrame(
        {
            "workload.servers": [8, 4, 8, 4], "transport.rto_min": ["1ms", "1ms", "9ms", "9ms"],
            "network.buffer": ["64KiB", "32KiB", "64KiB", "32KiB"],
        }
    )  # fmt: skip
    axis, series = split(rows, rows.columns)
    assert axis == "workload.servers"
    assert [one.label for one in series] == ["rto_min = 1ms", "rto_min = 9ms"]
    assert [one.points["workload.servers"].to_list() for one in series] == [[4, 8], [4, 8]]
    _, (alone,) = split(rows.head(2), rows.columns)
    assert alone.label == ""


def test_values_are_texts() -> None:
    tree = '{"name": "push-out", "victim": "oldest", "fair": true}'
    assert written(tree) == "push-out (victim oldest, fair)"
    assert written('["a", {"name": "b"}]') == "a + b"
    assert written("[]") == written("[ ]") == "none"
    assert written('{"low": 1}') == "low 1"
    assert label_of({"transport.name": "reno", "transport.rto_min": "1ms"}) == (
        "reno, rto_min = 1ms"
    )
    assert ordered(["1ms", "20ms", 3])
    assert not ordered(["1ms", "sack"])


@pytest.mark.parametrize(
    ("changes", "row", "name", "facts"),
    [
        ({}, {"goodput_bps": 9e8}, "line", {"goodput_bps": 9e8}),
        ({}, {"timeouts": 8.0}, "timer", {"timeouts": 0.4, "rto_s": 0.2}),
        ({}, {"timeouts": 9.9}, "timer", {"timeouts": 0.495}),
        ({}, {"timeouts": 10.0}, "windows", {"timeouts": 0.5, "flows": 4, "smallest": 8}),
        ({}, {"timeouts": 8.0, "timeouts_handshake": 4.0}, "timer", {}),
        ({}, {"timeouts": 8.0, "timeouts_handshake": 4.1}, "handshake", {"handshakes": 0.205}),
        ({}, {"timeouts": 2.0, "stalls_tail_probe": 2.0}, "timer", {"probes": 0.1}),
        ({}, {"timeouts": 2.0, "stalls_tail_probe": 2.1}, "tail probe", {"probes": 0.105}),
        ({"workload.servers": 64}, {"timeouts": 8.0}, "buffer", {"smallest": 128, "flows": 64}),
        ({"transport.receive_window": "1seg"}, {"goodput_bps": 1e7}, "windows", {"windows": 4}),
        ({}, {}, "transport", {"goodput_bps": 1e8, "busy_share": 0.3}),
    ],
)
def test_what_limits_is_decided_by_these_bounds(
    changes: dict[str, Any], row: dict[str, float], name: str, facts: dict[str, float]
) -> None:
    """The bounds: half of the waits, a wait in half of the blocks, two packets per connection."""
    delay = "100us" if "transport.receive_window" in changes else "25us"
    tree = document(network={"delay": delay}, transport={"rto_min": "200ms"})
    scenario = incast.load(tree)
    for key, value in changes.items():
        scenario = scenario.override(key, value)
    means = {
        "goodput_bps": 1e8, "timeouts": 0.0, "timeouts_handshake": 0.0, "stalls_tail_probe": 0.0,
        "stall_max_s": None, "blocks": 20.0, "completion_s": 0.05, "link_utilization": 0.3,
    } | row  # fmt: skip
    limit = limit_of(case_of(scenario), means)
    assert limit.name == name
    assert {key: limit.facts[key] for key in facts} == pytest.approx(facts)


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True),
        ({"first": 2}, True),
        ({"first": 16}, True),
        ({"first": 2, "most": 2}, True),
        ({"most": 1_000_000}, True),
        # There is no interval with one seed.
        ({"first": 1}, False),
        ({"first": 0}, False),
        ({"first": 17}, False),
        ({"most": 1_000_001}, False),
        ({"first": 4.0}, False),
        ({"target": 0.0}, False),
        ({"target": 1.0}, False),
        ({"target": 1}, False),
    ],
)
def test_a_precision_of_a_manifest_is_within_its_bounds(
    changes: dict[str, Any], holds: bool
) -> None:
    assert precision.valid({"target": 0.1, "first": 4, "most": 16} | changes) is holds


def test_the_schema_has_the_bounds_of_a_precision() -> None:
    (most,) = (key.about for key in schema.all_keys() if key.name == "run.most_seeds")
    assert (most["minimum"], most["maximum"]) == (2, 1_000_000)
    few = document(run={"seeds": 2, "precision": 0.1, "most_seeds": most["minimum"]})
    assert incast.load(few).plan.precision == precision.Precision(0.1, 2, 2)
