"""`incast diagnose` on captures of `incast run --pcap`: the answers agree with the simulator."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Command

LATE_OPENS = """\
profile = "ns3"
network = {rate = "1Gbps", delay = "10us", buffer = "64KiB"}
transport = {name = "newreno", rto_min = "1s"}
run = {seeds = [1]}

[workload]
name = "barrier-read"
servers = 64
sru = "16KiB"
blocks = 4
connections = "fresh"
request_jitter = "5us"
"""
PROBES = """\
profile = "linux"
network = {rate = "1Gbps", delay = "50us", buffer = "16KiB"}
transport = {name = "cubic", rto_min = "1s", segmentation_offload = "64KiB"}
run = {seeds = [1]}

[workload]
name = "barrier-read"
servers = 8
sru = "24KiB"
blocks = 2
connections = "persistent"
request_jitter = "5us"
"""
QUEUE = """\
profile = "rfc"
network = {rate = "1Gbps", delay = "25us", buffer = "64KiB"}
transport = {name = "sack"}
run = {seeds = [1]}

[workload]
name = "barrier-read"
servers = 12
sru = "64KiB"
blocks = 4
connections = "persistent"
"""
FEW_LOSSES = """\
profile = "linux"
transport = {receive_window = "32KiB"}
run = {seeds = [1]}

[network]
rate = "1Gbps"
delay = "25us"
buffer = "16MiB"
queue = {name = "bernoulli", p = 0.003, data_only = true}

[workload]
name = "barrier-read"
servers = 4
sru = "64KiB"
blocks = 4
connections = "persistent"
"""


def seen(command: Command, directory: Path, scenario: str, at: str) -> dict[str, Any]:
    """Run a scenario, capture its packets at a place, and return the report on the capture."""
    file, capture = directory / "read.toml", directory / f"{at}.pcapng"
    file.write_text(scenario, encoding="utf-8")
    assert command("run", file, "--pcap", capture, "--pcap-at", at).code == 0
    done = command("diagnose", capture, "--format", "json")
    assert (done.code, done.err) == (0, "")
    report: dict[str, Any] = json.loads(done.out)
    return report


def test_a_host_whose_first_syn_was_lost_is_of_the_burst(command: Command, tmp_path: Path) -> None:
    report = seen(command, tmp_path, LATE_OPENS, "client")
    assert report["incast"] is True
    assert [episode["fan_in"] for episode in report["episodes"]] == [64] * 4


def test_a_probe_of_new_bytes_ends_a_wait(command: Command, tmp_path: Path) -> None:
    report = seen(command, tmp_path, PROBES, "switch")
    assert len(report["episodes"]) == 2
    assert "probe" in {stall["ended_by"] for stall in report["stalls"]}


@pytest.mark.parametrize("at", ["client", "switch"])
def test_the_buffer_is_seen_in_waits(command: Command, tmp_path: Path, at: str) -> None:
    found = seen(command, tmp_path, QUEUE, at)["parameters"]
    assert found["rate_bps"] == pytest.approx(1e9, rel=0.2)
    assert 0.67 < found["buffer_bytes"] / 65536 < 1.5


def test_few_losses_are_no_proof(command: Command, tmp_path: Path) -> None:
    report = seen(command, tmp_path, FEW_LOSSES, "client")
    assert report["episodes"]
    assert report["incast"] is None
    assert "a bad link" in report["why"]


def test_a_busy_link_is_no_slow_server(command: Command, tmp_path: Path) -> None:
    report = seen(command, tmp_path, QUEUE.replace("64KiB", "8MiB", 1), "client")
    answers = {one["name"]: one["found"] for one in report["look_alikes"]}
    assert (report["incast"], answers["slow_server"]) == (False, False)


def test_a_server_sees_its_answers_and_not_the_others(command: Command, tmp_path: Path) -> None:
    report = seen(command, tmp_path, QUEUE.replace("64KiB", "8MiB", 1), "server:0")
    assert report["incast"] is None
    assert (report["parameters"]["servers"], report["parameters"]["sru"]) == (1, 65536)
    scenario = tmp_path / "server.toml"
    capture = tmp_path / "server:0.pcapng"
    assert command("diagnose", capture, "--scenario", scenario).code == 0
    assert command("run", scenario, "--seeds", 1).code == 0
