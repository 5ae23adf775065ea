"""Real hosts: repeatable cases, comparisons with the simulation, and the state after a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import incast
from incast import _core
from incast.live import kernel_switch
from incast.live.machine import Machine
from incast.live.stack import Stack
from incast.live.star import Ends, Star

SEEDS = 3
READ = """
profile = "linux"
network = { rate = "100Mbps", delay = "20us", buffer = "32KiB" }
workload = { name = "barrier-read", servers = 16, sru = "64KiB", blocks = 6, connections = "%s" }
transport = { name = "cubic" }
"""
FLOWS = """
profile = "linux"
network = { rate = "100Mbps", delay = "100us", buffer = "128KiB", queue = %s }
workload = { name = "long-flows", servers = 4, duration = "1500ms" }
transport = { name = "cubic", ecn = "%s" }
"""


def missing() -> str:
    """Return why this machine cannot run real hosts; an empty string if it can."""
    if sys.platform != "linux":
        return "real hosts need Linux"
    if os.geteuid() == 0:
        return Machine.here().why
    words = ["unshare", "--user", "--map-root-user", "--net", "--mount", "true"]
    try:
        done = subprocess.run(words, capture_output=True, check=False)
    except FileNotFoundError:
        return "the command unshare is missing"
    return "" if done.returncode == 0 else "this user may not make namespaces"


WHY = missing()
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}"),
]


def started(file: Path, *words: str) -> subprocess.Popen[str]:
    """Start `incast live` as a user would."""
    command = [sys.executable, "-m", "incast", "live", str(file), "--format", "json", *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def rows(file: Path, text: str, *changes: str, words: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Run a scenario on real hosts; return the rows that can be trusted."""
    file.write_text(text)
    sets = [word for change in changes for word in ("--set", change)]
    process = started(file, "--seeds", str(SEEDS), *sets, *words)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    told = [row for row in json.loads(out)["rows"] if row["status"] != "untrusted"]
    if not told:
        pytest.skip("this machine has too much other work: no run can be trusted")
    assert {row["status"] for row in told} == {"ok"}
    return told


def middle(told: list[dict[str, Any]], column: str) -> float:
    """Return the median of a column."""
    return median(row[column] for row in told)


def test_sixteen_servers_collapse_and_a_short_timer_helps(tmp_path: Path) -> None:
    file = tmp_path / "read.toml"
    told = rows(file, READ % "persistent")
    assert middle(told, "goodput_bps") < 50e6
    assert middle(told, "timeouts") > 10
    assert middle(told, "live.rto_s") > 0.2
    # A column that a kernel cannot measure is empty, not 0.
    for column in ("timeouts_full_window", "stalls_timeout", "timeouts_spurious"):
        assert {row[column] for row in told} == {None}, column
    assert all(row["blocks"] == 6 and row["bytes"] == 6 * 16 * 2**16 for row in told)
    assert all(0 < row["queue_max_bytes"] <= 32 * 2**10 and row["drops"] > 0 for row in told)
    told = rows(file, READ % "persistent", "transport.rto_min=5ms", "workload.blocks=12")
    assert middle(told, "goodput_bps") > 60e6
    assert middle(told, "live.rto_s") < 0.1


def test_without_sack_four_servers_collapse(tmp_path: Path) -> None:
    changes = ("workload.servers=4", "transport.sack=false", "transport.recovery=newreno")
    told = rows(tmp_path / "read.toml", READ % "fresh", *changes, "workload.blocks=10")
    assert middle(told, "goodput_bps") < 25e6
    assert {row["tail_probes"] for row in told} == {0}


@pytest.mark.parametrize(
    ("queue", "ecn", "tolerance"),
    [
        ('"drop-tail"', "off", 0.15),
        ('{ name = "ecn-threshold", threshold = "20KB" }', "on", 0.35),
        ('"red"', "off", 0.35),
    ],
    ids=["drop-tail", "ecn-threshold", "red"],
)
def test_a_queue_is_as_long_as_the_simulated_one(
    tmp_path: Path, queue: str, ecn: str, tolerance: float
) -> None:
    file = tmp_path / "flows.toml"
    told = rows(file, FLOWS % (queue, ecn))
    simulated = incast.run(file)
    frame = simulated.frame()
    wanted = float(frame["queue_mean_bytes"].median())  # type: ignore[arg-type]
    assert middle(told, "queue_mean_bytes") == pytest.approx(wanted, rel=tolerance)
    assert (middle(told, "marks") > 0) == (ecn == "on")
    if queue != '"red"':  # RED sometimes drops early, so the link is not always full
        assert middle(told, "goodput_bps") == pytest.approx(94e6, rel=0.03)


def test_the_switch_of_the_kernel_collapses_too(tmp_path: Path) -> None:
    if why := lacking_switch():
        pytest.skip(f"no switch of the kernel: {why}")
    file = tmp_path / "read.toml"
    told = rows(file, READ % "persistent", words=("--switch", "kernel"))
    assert middle(told, "goodput_bps") < 50e6
    assert middle(told, "drops") > 100
    assert {row["queue_max_bytes"] for row in told} == {None}


def lacking_switch() -> str:
    """Return why the kernel cannot be the switch; an empty string if it can. Needs root."""
    return kernel_switch.available() if os.geteuid() == 0 else "it is tested as root"


def test_flows_of_a_server_reach_it(tmp_path: Path) -> None:
    """If a server has several connections, each frame is sent to the host of its flow."""
    text = FLOWS % ('"drop-tail"', "off")
    told = rows(tmp_path / "flows.toml", text, "workload.flows=2", "workload.servers=3")
    assert middle(told, "goodput_bps") == pytest.approx(94e6, rel=0.03)
    assert middle(told, "fairness") > 0.3


def test_simulation_and_real_hosts_stand_in_one_table_and_one_picture(tmp_path: Path) -> None:
    file = tmp_path / "read.toml"
    file.write_text(READ % "persistent" + "sweep = { 'workload.servers' = [2, 4] }\n")
    picture = tmp_path / "both.png"
    words = ["run", file, "--seeds", "2", "--with-live", "--plot", picture]
    command = [sys.executable, "-m", "incast", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "simulation and real hosts" in done.stdout
    lines = picture.with_suffix(".csv").read_text().splitlines()
    assert lines[0].endswith(",real.goodput_bps")
    assert len(lines) == 3


def namespaces() -> set[str]:
    """Return the network namespaces of all processes, and the interfaces of this namespace."""
    links = Path("/proc").glob("[0-9]*/ns/net")
    found = set()
    for link in links:
        try:
            found.add(str(link.readlink()))
        except OSError:
            continue
    return found | {path.name for path in Path("/sys/class/net").iterdir()}


def test_a_kill_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "read.toml"
    file.write_text(READ % "persistent")
    before = namespaces()
    process = started(file, "--set", "workload.blocks=1000")
    held = Path(f"/proc/{process.pid}/fd")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if sum("net:[" in str(one.readlink()) for one in held.iterdir() if one.is_symlink()) > 16:
            break
        time.sleep(0.05)
    else:
        pytest.fail("the hosts were not there in 20 s")
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert namespaces() <= before
    assert rows(file, READ % "persistent", "workload.servers=2"), "the next one runs as usual"


def test_sixty_four_servers_are_there_soon() -> None:
    if os.geteuid() != 0:
        pytest.skip("this process has no namespaces of its own without root")
    stack = Stack.of(incast.load({"profile": "linux", **_NETWORK}).plan.points[0].here)
    start = time.monotonic()
    with Star(65, stack, Ends(0, range(1, 65))) as star:
        assert time.monotonic() - start < 3
        assert len(set(star.interfaces)) == 65


def test_a_switch_is_stopped_once() -> None:
    if os.geteuid() != 0:
        pytest.skip("this process has no namespaces of its own without root")
    point = incast.load({"profile": "linux", **_NETWORK}).plan.points[0]
    switch = _core.Switch(point.scenario, 1, [])
    assert switch.stop()["frames"] == 0
    with pytest.raises(RuntimeError, match="has been stopped"):
        switch.stop()


_NETWORK: dict[str, Any] = {
    "network": {"rate": "100Mbps", "delay": "20us", "buffer": "32KiB"},
    "workload": {"name": "barrier-read", "servers": 2, "sru": "64KiB", "blocks": 1},
    "transport": {"name": "cubic"},
}
