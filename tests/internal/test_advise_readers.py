"""Readers of `incast advise --from`: the values that they take, and the lines that they refuse."""

import json
from pathlib import Path

import pytest

from incast import ScenarioError
from incast.advise import readers
from incast.errors import AdviceError
from incast.scenario import load

SS = """\
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      0      10.0.0.9:51000     10.0.0.1:80
\t cubic wscale:7,7 rto:201 rtt:0.5/0.1 ato:40 mss:1448 cwnd:10 bytes_received:65536 minrtt:0.12
ESTAB 0      0      10.0.0.9:51002     10.0.0.2:80
\t cubic wscale:7,7 rto:204 rtt:1.5/0.6 ato:40 mss:1448 cwnd:10 minrtt:0.11
"""
ROUTES = """\
default via 10.0.0.254 dev eth0
10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.1 rto_min lock 10ms initcwnd 4
"""
SYSCTL = """\
# sysctl -a
kernel.ostype = Linux
net.ipv4.tcp_congestion_control = cubic
net.ipv4.tcp_rto_min_us = 5000
net.ipv4.tcp_sack = 1
net.ipv4.tcp_slow_start_after_idle = 0
"""
CSV = "time_s,flows,bytes\n0.000,2,4096\n0.001,40,2621440\n0.002,0,0\n"
SONIC = {
    "PORT": {f"Ethernet{n}": {"speed": "25000"} for n in range(4)}
    | {"Ethernet8": {"speed": "100"}},
    "BUFFER_POOL": {"egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "32000000"}},
    "BUFFER_PROFILE": {
        "egress_lossless_profile": {"pool": "egress_lossless_pool", "static_th": "1"},
        "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "0", "dynamic_th": "-3"},
    },
    "WRED_PROFILE": {"MARK": {"ecn": "ecn_all", "green_min_threshold": "150000"}},
    "QUEUE": {"Ethernet0|0": {"wred_profile": "MARK"}},
}


def taken(tmp_path: Path, text: str) -> dict[str, object]:
    path = tmp_path / "file"
    path.write_text(text)
    found = readers.read(path)
    assert found.took
    assert all(said.startswith("file (") for said in found.took)
    return found.changes


def test_connections_are_servers_round_trips_and_timers(tmp_path: Path) -> None:
    changes = taken(tmp_path, SS)
    assert changes["workload.servers"] == 2
    assert changes["network.base_rtt"] == "110000ns"
    assert changes["transport.rto_min"] == "200000us"
    assert changes["transport.mss"] == 1448
    assert changes["transport.congestion_control"] == "cubic"


def test_routes_have_options(tmp_path: Path) -> None:
    assert taken(tmp_path, ROUTES) == {
        "transport.rto_min": "10ms",
        "transport.initial_window": "4seg",
    }


def test_settings_of_tcp_are_taken_and_others_passed_over(tmp_path: Path) -> None:
    assert taken(tmp_path, SYSCTL) == {
        "transport.congestion_control": "cubic",
        "transport.rto_min": "5000us",
        "transport.idle_restart": "none",
    }


def test_the_largest_burst_is_the_read(tmp_path: Path) -> None:
    changes = taken(tmp_path, CSV)
    assert (changes["workload.servers"], changes["workload.sru"]) == (40, 65536)


def test_a_switch_has_speed_buffer_and_marks(tmp_path: Path) -> None:
    assert taken(tmp_path, json.dumps(SONIC)) == {
        "network.rate": "25000Mbps",
        "network.buffer": {"name": "dynamic", "total": "32000000B", "alpha": "2^-3"},
        "network.queue": {"name": "ecn-threshold", "threshold": "150000B"},
    }


@pytest.mark.parametrize("text", [SS, ROUTES, SYSCTL, CSV, json.dumps(SONIC)])
def test_what_is_taken_makes_a_valid_scenario(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    scenario, notes = readers.scenario_of([path], None)
    assert scenario.override("workload.servers", 4).plan.points
    assert any(note.startswith("Assumed: ") for note in notes)


def test_a_value_that_no_scenario_can_have_is_blamed_on_its_file(tmp_path: Path) -> None:
    path = tmp_path / "ss.txt"
    path.write_text(SS.replace("minrtt:0.12", "minrtt:0.00001").replace("minrtt:0.11", ""))
    for scenario, source in ((None, "ss.txt"), (load("storage-read"), "storage-read with ss.txt")):
        changed, _ = readers.scenario_of([path], scenario)
        with pytest.raises(ScenarioError, match=rf"^{source}: network.base_rtt: 0.01us "):
            _ = changed.override("workload.servers", 4).plan


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SS + "hello world\n", "line 6: 'hello' is not a state"),
        (SS + "\t nothing here\n", "line 6: has no field"),
        (ROUTES + "somewhere dev eth0\n", "line 3: 'somewhere dev eth0' is not a route"),
        (ROUTES.replace("lock 10ms", "soon"), "line 2: rto_min 'soon' is not a time"),
        (SYSCTL + "what is this\n", "line 7: 'what is this' is not key = value"),
        (SYSCTL + "net.ipv4.tcp_sack = maybe\n", "line 7: net.ipv4.tcp_sack = maybe: must be 0"),
        (CSV + "0.003,many,1\n", "line 5: '0.003,many,1' must have numbers"),
        ("time,flows,bytes\n0,0,0\n", "line 1: no bin has a flow"),
        ('{\n"PORT": {,}\n}', "line 2: not JSON"),
        ('{"VLAN": {}}', "must contain one of the tables BUFFER_POOL"),
        (json.dumps(SONIC).replace('"-3"', '"30"'), "dynamic_th = '30': must be a whole number"),
        (json.dumps(SONIC).replace("ecn_all", "ecn_some"), "WRED_PROFILE|MARK|ecn = 'ecn_some'"),
        ("hello\n", "not recognised; must be the output of one of nstat"),
    ],
)
def test_a_line_that_is_not_understood_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    with pytest.raises(AdviceError) as error:
        readers.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)
