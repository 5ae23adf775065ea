"""Printed commands of fixes run in a network namespace; undoing them restores the whole state."""

import os
import re
import shutil
import subprocess

import pytest

import incast
from incast.advise.case import case_of
from incast.advise.fixes import Fix, Who, catalogue

READ = {
    "profile": "linux",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "32KiB"},
    "workload": {"servers": 16, "sru": "32KiB", "connections": "persistent"},
    "transport": {"recovery": "newreno"},
}
OF_A_USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
NAMESPACE = ["unshare", *OF_A_USER, "--net", "sh", "-c"]
NETWORK = """
ip link add eth0 type veth peer name peer0 && ip link set eth0 up && ip link set peer0 up
ip addr add 192.0.2.9/24 dev eth0 && ip route add default via 192.0.2.254
"""
SET = "ip route change default via 192.0.2.254 rto_min 300ms initcwnd 20 quickack 0\n"
"""A route that already has options. `ip` prints rto_min in a form that it does not accept."""
STATE = """
state() {
    ip -d route show
    tc qdisc show dev eth0
    for key in tcp_congestion_control tcp_ecn tcp_sack tcp_recovery tcp_early_retrans \
        tcp_slow_start_after_idle tcp_rmem
    do sysctl net.ipv4.$key; done
}
"""


def said(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NAMESPACE, script], capture_output=True, text=True, check=False)


def why_not() -> str:
    """Return why this machine has no network namespaces; an empty string if it has them."""
    missing = [name for name in ("unshare", "ip", "tc", "sysctl") if not shutil.which(name)]
    if missing:
        return f"commands are missing: {', '.join(missing)}"
    done = said(NETWORK)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["refused"])[-1]


WHY = why_not()
pytestmark = pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}")

HOST = [
    fix
    for fix in catalogue(case_of(incast.load(READ)))
    if fix.who in {Who.CLIENT, Who.SERVERS} and re.match(r"(# on|CLIENT|SERVER|DEV|: )", fix.text)
]


def test_there_are_enough_commands() -> None:
    assert len(HOST) >= 12


@pytest.mark.parametrize("network", [NETWORK, NETWORK + SET], ids=["plain", "set"])
@pytest.mark.parametrize("fix", HOST, ids=lambda fix: fix.name)
def test_the_rollback_restores_the_state(fix: Fix, network: str) -> None:
    mark = "====="
    quiet = [f"{{\n{words}\n}} >&2" for words in (fix.text, fix.rollback)]
    parts = ["state", quiet[0], "state", quiet[1], "state"]
    script = network + STATE + f"\necho {mark}\n".join(parts)
    done = said(f"set -e\n{script}")
    if "qdisc kind is unknown" in done.stderr:
        pytest.skip("the kernel has no fq queue")
    if OF_A_USER and "tcp_metrics" in fix.text and "not permitted" in done.stderr:
        pytest.skip("only root may flush the kernel's table of metrics")
    assert done.returncode == 0, done.stderr[-500:]
    before, _, during, _, after = done.stdout.split(f"{mark}\n")
    assert after == before
    assert during != before or fix.name.startswith("SACK"), "the commands did nothing"
