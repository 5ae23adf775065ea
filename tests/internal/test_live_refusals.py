"""Keys that real hosts do not support are refused by name; these tests create no hosts."""

from typing import Any

import pytest

import incast
from incast.errors import LiveError
from incast.live.machine import Machine
from incast.live.refuse import check
from incast.live.stack import Stack
from incast.live.trust import Clock, doubts

NEWER = {"rack-tlp": True, "newreno": False}
HERE = Machine(2, "", ("reno", "cubic"), NEWER)
SLOW: dict[str, Any] = {"rate": "100Mbps", "delay": "20us", "buffer": "32KiB"}


def asked(**sections: Any) -> incast.Scenario:
    read = {"name": "barrier-read", "servers": 4, "sru": "64KiB", "blocks": 2}
    given = {"profile": "linux", "network": SLOW, "workload": read}
    return incast.load({**given, "transport": {"name": "cubic"}, **sections})


def test_a_read_in_a_star_is_not_refused() -> None:
    check(asked(), HERE)
    flows = {"name": "long-flows", "servers": 3, "flows": 2, "duration": "1s"}
    check(asked(workload=flows), HERE)


@pytest.mark.parametrize(
    ("sections", "words"),
    [
        ({"transport": {"name": "dctcp"}}, "this kernel has reno, cubic, not 'dctcp'"),
        ({"transport": {"name": "cubic", "pacing": True}}, "transport.pacing: cannot be set"),
        (
            {"transport": {"name": "cubic", "recovery": "tahoe", "sack": False}},
            "without SACK the kernel has newreno, not 'tahoe'",
        ),
        (
            {"transport": {"name": "cubic", "recovery": "sack"}},
            "with SACK the kernel has rack-tlp, newreno, not 'sack'",
        ),
        ({"transport": {"name": "cubic", "mss": 8948}}, "must be from 88 to 1448 here, not 8948"),
        ({"network": SLOW | {"topology": "two-tier"}}, "in a star, not in a 'two-tier'"),
        ({"network": SLOW | {"clients": 2}}, "network.clients: must be 1"),
        ({"network": SLOW | {"rate": "1Mbps"}}, "at least 10 Mbps with real hosts, not 1 Mbps"),
        (
            {"workload": {"name": "barrier-read", "servers": 4, "sru": 1, "active": 2}},
            "workload.active: cannot be set",
        ),
        (
            {"background": [{"name": "long-flows", "servers": 1}]},
            "real hosts have no background traffic",
        ),
    ],
)
def test_what_a_kernel_has_not_is_named(sections: dict[str, Any], words: str) -> None:
    with pytest.raises(LiveError) as refusal:
        check(asked(**sections), HERE)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_swept_key_is_refused_as_a_set_one() -> None:
    swept = asked(sweep={"transport.pacing": [True, False]})
    with pytest.raises(LiveError, match=r"transport\.pacing: cannot be set"):
        check(swept, HERE)


def test_a_machine_without_namespaces_says_why() -> None:
    nowhere = Machine(0, "this is darwin", (), NEWER)
    with pytest.raises(LiveError, match="needs network namespaces of Linux: this is darwin"):
        nowhere.check()
    assert nowhere.lines[0] == "T0: no namespaces: this is darwin"


def test_the_stack_is_that_of_the_scenario() -> None:
    transport = {"name": "cubic", "rto_min": "5ms", "sack": False, "recovery": "newreno"}
    stack = Stack.of(asked(transport=transport | {"delayed_ack": False}).plan.points[0].here)
    assert stack.route == "congctl cubic initcwnd 10 rto_min 5ms advmss 1460 quickack 1"
    wanted = {"tcp_sack": 0, "tcp_recovery": 0, "tcp_early_retrans": 0, "tcp_timestamps": 1}
    assert stack.sysctls.items() >= wanted.items()
    assert stack.instead(0.008) == ""
    assert "the kernel's RTO was 20 ms or more" in stack.instead(0.02)


MEASURED: Any = {"late_max_s": 1e-3, "late_p99_s": 1e-4, "missed": 0, "busy": 0.5}
CALM = Clock(1.0, 0.3, 0.01)


@pytest.mark.parametrize(
    ("change", "hosts", "why"),
    [
        ({}, CALM, []),
        ({"late_max_s": 0.02}, CALM, ["the switch was late"]),
        ({"late_p99_s": 1e-3}, CALM, ["the switch was late"]),
        ({"missed": 1}, CALM, ["the kernel dropped frames outside the switch"]),
        ({"busy": 0.99}, CALM, ["a processor was saturated"]),
        ({}, Clock(1.0, 0.3, 0.2), ["a processor was saturated"]),
    ],
)
def test_a_run_that_was_late_or_starved_is_not_trusted(
    change: dict[str, float], hosts: Clock, why: list[str]
) -> None:
    assert doubts(MEASURED | change, hosts) == why
