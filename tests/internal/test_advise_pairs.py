"""Pairs of fixes that one shell applies in either order and undoes in either order."""

import os
import re
import shutil
import subprocess
from itertools import permutations

import pytest
from hosts_in_a_shell import ROUTES, hosts

import incast
from incast.advise.apps import APPS
from incast.advise.case import case_of
from incast.advise.fixes import Fix, catalogue
from incast.advise.words import HOSTS, SWITCH, Words, at, both

READ = {
    "profile": "linux",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "128KiB"},
    "workload": {"servers": 16, "sru": "128KiB", "connections": "persistent"},
    "transport": {"recovery": "newreno"},
}


def kinds() -> list[list[Fix]]:
    """Return the fixes that are commands, grouped by the commands that undo them."""
    scenario = incast.load(READ)
    found = catalogue(case_of(scenario)) + catalogue(case_of(scenario, APPS["ceph"]))
    alike: dict[str, list[Fix]] = {}
    for fix in found:
        if "OLD_" in fix.rollback or "checkpoint" in fix.rollback:
            alike.setdefault(fix.rollback, []).append(fix)
    return list(alike.values())


KINDS = kinds()
FIXES = [kind[0] for kind in KINDS]


def partners(first: Fix) -> list[Fix]:
    """Return the fixes to try with `first`: `first` itself, the last fix of its kind, and others.

    The others are the first fixes of all later kinds.
    """
    place = FIXES.index(first)
    return [first, KINDS[place][-1], *FIXES[place + 1 :]]


def undone(first: Fix, seconds: list[Fix], *, out: str = "") -> str:
    """Return a script that applies and undoes `first` with each of `seconds`, in all orders.

    The script prints a line for every order that does not restore the first state.
    """
    lines = ["state > before"]
    for second in seconds:
        for applied in permutations((first, second)):
            for back in permutations((first, second)):
                words = [one.text for one in applied] + [one.rollback for one in back]
                told = " ".join(f"“{one.name}”" for one in (*applied, *back))
                lines += [
                    "(",
                    *words,
                    f") {out}",
                    f"state > after; cmp -s before after || echo '{told}'",
                ]
    return "\n".join(lines)


def ran(script: str, *around: str) -> str:
    done = subprocess.run(
        [*around, "sh"], input=script, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout


def test_every_kind_of_command_is_there() -> None:
    told = "\n".join(fix.rollback for fix in FIXES)
    assert set(re.findall(r"unset OLD_(\w+)", told)) == {
        *("tcp_rmem", "tcp_sack", "tcp_recovery", "tcp_early_retrans", "tcp_ecn"),
        *("tcp_slow_start_after_idle", "tcp_congestion_control", "objecter_inflight_ops"),
        *("quickack", "rto_min", "initcwnd", "cwnd", "qdisc"),
    }
    assert "config rollback" in told


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.name)
def test_a_variable_keeps_one_thing_and_is_set_once(fix: Fix) -> None:
    """No fix overwrites an old value that another fix saved, so undoing restores the old state."""
    set_here = re.findall(r"^\s*(\w+)=", fix.text, re.MULTILINE)
    assert set(set_here) <= {"CLIENT", "SERVER", "DEV", "OLD_qdisc"}, "examples, and a constant"
    assert fix.text.count("OLD_qdisc=") == fix.text.count("OLD_qdisc=default")
    for old in re.findall(r"\$\{(\w+)=\$\(", fix.text):
        assert f': "${{{old}=$(' in fix.text
        assert old.removeprefix("OLD_") in fix.text.split(f"{old}=", 1)[1]
        assert f"unset {old}" in fix.rollback


@pytest.mark.parametrize(
    ("first", "route"),
    [
        pytest.param(fix, route, id=f"{fix.name}, {route}")
        for fix in FIXES
        for route in (ROUTES if "its_route" in fix.text else ["plain"])
    ],
)
def test_all_pairs_go_back(first: Fix, route: str) -> None:
    script = hosts(route) + undone(first, partners(first), out="> told 2>&1; rm told")
    assert ran(script) == ""


def test_a_shell_that_is_used_again_keeps_what_is_new() -> None:
    fix = next(fix for fix in FIXES if "tcp_rmem" in fix.text)
    own = "sysctl -w net.ipv4.tcp_rmem='1 2 3'"
    script = "\n".join([hosts("plain"), fix.text, fix.rollback, own, fix.text, fix.rollback])
    assert ran(f"{script}\nsysctl -n net.ipv4.tcp_rmem") == "1 2 3\n"


def test_one_of_two_goes_back_alone() -> None:
    """Undoing a fix keeps the other options of the same route."""
    timer, window = (
        next(one for one in FIXES if one.name.startswith(it)) for it in ("rto", "init")
    )
    script = "\n".join([hosts("set"), timer.text, window.text, timer.rollback])
    told = ran(f"{script}\ncat route")
    assert "rto_min lock 300ms" in told
    assert window.name in told


def test_several_changes_are_undone_in_the_opposite_order() -> None:
    words = both(at(SWITCH, Words("one", "un-one")), at(HOSTS, Words("two", "un-two")))
    assert words.text.splitlines() == [f"# {SWITCH}", "one", f"# {HOSTS}", "two"]
    assert words.rollback.splitlines() == [f"# {HOSTS}", "un-two", "# on the switch", "un-one"]
    assert both(Words("1", "a"), Words("2", "b"), Words("3", "c")) == ("1\n2\n3", "c\nb\na")


OF_A_USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
NAMESPACE = ("unshare", *OF_A_USER, "--net")
NETWORK = """set -e
ip link add eth0 type veth peer name peer0 && ip link set eth0 up && ip link set peer0 up
ip addr add 192.0.2.9/24 dev eth0 && ip route add default via 192.0.2.254
ip route change default via 192.0.2.254 rto_min 300ms initcwnd 20
cd $(mktemp -d)
state() {
    ip -d route show
    tc qdisc show dev eth0
    sysctl -a 2> /dev/null | grep -E 'ipv4.tcp_(cong|ecn|sack|reco|early|slow|rmem)'
}
"""


def why_not() -> str:
    """Return why this machine has no network namespaces; an empty string if it has them."""
    missing = [name for name in ("unshare", "ip", "tc", "sysctl") if not shutil.which(name)]
    if missing:
        return f"commands are missing: {', '.join(missing)}"
    done = subprocess.run(
        [*NAMESPACE, "sh", "-c", NETWORK], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["refused"])[-1]


WHY = why_not()
REAL = [
    fix
    for fix in FIXES
    if not re.search("sudo|modprobe|ceph|qdisc", fix.text)
    and not (OF_A_USER and "tcp_metrics" in fix.text)
]


@pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}")
@pytest.mark.parametrize("first", REAL, ids=lambda fix: fix.name)
def test_all_pairs_go_back_on_a_kernel(first: Fix) -> None:
    script = NETWORK + undone(
        first, [it for it in partners(first) if it in REAL], out="> told 2>&1"
    )
    assert ran(script, *NAMESPACE) == ""
