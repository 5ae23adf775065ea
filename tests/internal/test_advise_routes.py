"""The values read from routes, also if there are several, and from settings of the kernel."""

from pathlib import Path

import pytest

from incast.advise import readers
from incast.advise.readers.taken import Taken
from incast.errors import AdviceError

DEFAULT = "default via 10.0.0.254 dev eth0 proto dhcp src 10.0.0.20 metric 100\n"
LAN = "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.20 metric 100{}\n"


def read(tmp_path: Path, *lines: str) -> Taken:
    path = tmp_path / "dump"
    path.write_text("".join(lines))
    return readers.read(path)


def told(taken: Taken) -> str:
    return " ".join(one.partition("): ")[2] for one in taken.took)


def lan(options: str = "") -> str:
    return LAN.format(f" {options}" if options else "")


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ("rto_min lock 10ms", {"transport.rto_min": "10ms"}),
        ("rto_min lock 7", {"transport.rto_min": "7ms"}),
        ("rto_min lock 1.1s", {"transport.rto_min": "1100ms"}),
        ("rto_min lock 0.50ms", {"transport.rto_min": "1ms"}),
        ("rto_min lock 120s", {"transport.rto_min": "120000ms"}),
        ("initcwnd 4", {"transport.initial_window": "4seg"}),
        ("initcwnd lock 12", {"transport.initial_window": "12seg"}),
        ("cwnd lock 6", {"transport.receive_window": "6seg"}),
        ("quickack 1", {"transport.delayed_ack": False}),
        ("quickack 0", {}),
        ("window 5000", {}),
        ("congctl dctcp", {"transport.congestion_control": "dctcp"}),
        ("congctl htcp", {}),
        ("", {}),
    ],
)
def test_each_option_is_a_key(tmp_path: Path, options: str, changes: dict[str, object]) -> None:
    taken = read(tmp_path, DEFAULT, lan(options))
    assert taken.changes == changes
    if options and "quickack 0" not in options:
        assert "on 10.0.0.0/24 (line 2), but not on default (line 1)" in told(taken)


NONE = "No route to clients has an option of TCP."


@pytest.mark.parametrize(
    ("lines", "rto_min", "said"),
    [
        ((DEFAULT.strip() + " rto_min 9ms\n",), "9ms", "rto_min 9 ms on default (line 1)"),
        ((DEFAULT.strip() + " rto_min 9ms\n", lan()), None, "10.0.0.0/24 (line 2) has none"),
        ((DEFAULT.strip() + " rto_min 9ms\n", lan("rto_min 9ms")), "9ms", "(line 1), 10.0.0.0/24"),
        (
            (DEFAULT.strip() + " rto_min 9ms\n", lan("rto_min 8ms")),
            None,
            "it is 9ms on default (line 1) and 8ms on 10.0.0.0/24 (line 2)",
        ),
        ((lan("rto_min 9ms"), "10.8.0.0/16 dev tun0\n"), None, "10.8.0.0/16 (line 2) has none"),
        ((lan("rto_min 9ms"), "172.17.0.0/16 dev docker0\n"), "9ms", "on 10.0.0.0/24 (line 1);"),
        (
            (lan("rto_min 9ms"), "blackhole 10.2.0.0/16\nunreachable 10.3.0.0/16\n"),
            "9ms",
            "overrides",
        ),
        ((lan("rto_min 9ms"), "fe80::/64 dev eth0 proto kernel metric 256\n"), "9ms", "there."),
        ((lan("rto_min 9ms"), "local 10.0.0.20 dev eth0 table local\n"), "9ms", "there."),
        ((DEFAULT, "169.254.144.0/24 dev tun144 rto_min lock 10ms\n"), None, NONE),
        ((DEFAULT, "172.17.0.0/16 dev docker0 rto_min lock 10ms\n"), None, "(line 2)"),
        (("default via 10.0.0.1 dev a rto_min 9ms\n", DEFAULT), "9ms", "default (line 1)"),
        ((DEFAULT, "0.0.0.0/0 via 10.0.0.1 dev a metric 5 rto_min 9ms\n"), "9ms", "(line 2)"),
        (
            ("default proto static rto_min lock 9ms\n\tnexthop via 10.0.0.1 dev a weight 1\n",),
            "9ms",
            "default (line 1)",
        ),
        (
            ("10.0.0.9 dev eth0 src 10.0.0.20 uid 0\n    cache rto_min lock 9ms\n",),
            "9ms",
            "10.0.0.9",
        ),
    ],
)
def test_the_route_is_named_and_none_is_taken_if_they_differ(
    tmp_path: Path, lines: tuple[str, ...], rto_min: str | None, said: str
) -> None:
    taken = read(tmp_path, *lines)
    assert taken.changes.get("transport.rto_min") == rto_min
    assert said in told(taken)


@pytest.mark.parametrize("option", ["initcwnd", "cwnd"])
def test_every_option_is_compared_by_itself(tmp_path: Path, option: str) -> None:
    other = f"10.1.0.0/24 dev eth1 rto_min 5ms {option} 9\n"
    taken = read(tmp_path, lan(f"rto_min 5ms {option} 8"), other)
    assert taken.changes == {"transport.rto_min": "5ms"}
    assert f"{option} is not used: it is 8 on 10.0.0.0/24 (line 1) and 9 on" in told(taken)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("rto_min lock 0ms", "line 1: rto_min '0ms' must be above 0"),
        ("rto_min 121s", "must be above 0 and at most 120s"),
        ("rto_min 10us", "is not a time such as 10ms"),
        ("rto_min ٣ms", "is not a time such as 10ms"),
        ("rto_min", "line 1: rto_min has no value"),
        ("initcwnd 65536", "initcwnd '65536' is not a number from 0 to 65535"),
        ("congctl tahoe", "congctl 'tahoe' must be one of bbr, bic"),
    ],
)
def test_an_option_that_cannot_be_is_named(tmp_path: Path, options: str, said: str) -> None:
    with pytest.raises(AdviceError) as error:
        read(tmp_path, lan(options))
    assert said in str(error.value)


SETTINGS = "net.ipv4.tcp_"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("congestion_control = bbr", {"transport.congestion_control": "bbr"}),
        ("congestion_control = htcp", {}),
        ("sack = 0", {"transport.recovery": "newreno", "transport.sack": False}),
        ("sack = 0\nnet.ipv4.tcp_sack = 1", {}),
        ("rto_min_us = 200000", {}),
        ("rto_min_us = 120000000", {"transport.rto_min": "120000000us"}),
        ("rto_min_us = 199999", {"transport.rto_min": "199999us"}),
        ("slow_start_after_idle = 1", {"transport.idle_restart": "2861"}),
        ("slow_start_after_idle=0", {"transport.idle_restart": "none"}),
        ("ecn = 1", {"transport.ecn": "on"}),
        ("ecn = 2", {}),
        ("rmem = 4096\t131072\t6291456", {"transport.receive_window": "3145728B"}),
        ("rmem = 4096 4096 4096", {"transport.receive_window": "2920B"}),
    ],
)
def test_each_setting_is_a_key(tmp_path: Path, text: str, changes: dict[str, object]) -> None:
    assert read(tmp_path, f"{SETTINGS}{text}\n").changes == changes
    assert (
        read(tmp_path, f"-{SETTINGS}{text}\n".replace("net.ipv4.", "net/ipv4/")).changes == changes
    )


@pytest.mark.parametrize(
    "text", ["rto_min_us = 0", "rto_min_us = 120000001", "rmem = 1 2", "rmem = 1 2 2147483648"]
)
def test_a_setting_that_cannot_be_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(AdviceError, match=r"line 1: net\.ipv4\.tcp_"):
        read(tmp_path, f"{SETTINGS}{text}\n")


def test_ecn_needs_a_switch_that_marks(tmp_path: Path) -> None:
    settings, switch = tmp_path / "sysctl.txt", tmp_path / "config_db.json"
    settings.write_text(f"{SETTINGS}ecn = 1\n")
    switch.write_text(
        '{"WRED_PROFILE": {"M": {"ecn": "ecn_all", "green_min_threshold": "30000"}},'
        '"QUEUE": {"Ethernet0|0": {"wred_profile": "M"}}}'
    )
    alone, notes = readers.scenario_of([settings], None)
    assert "ecn" not in alone.document["transport"]
    why = "because no file says that a switch marks packets (network.queue)."
    assert f"ECN is left out, {why}" in notes
    assert alone.override("workload.servers", 4).plan.points
    both, notes = readers.scenario_of([settings, switch], None)
    assert both.document["transport"]["ecn"] == "on"
    assert both.override("workload.servers", 4).plan.points
    told_later, _ = readers.scenario_of([settings], None, {"network.queue"})
    assert told_later.document["transport"]["ecn"] == "on"


def test_a_timer_is_at_most_the_longest_of_the_kernel(tmp_path: Path) -> None:
    with pytest.raises(AdviceError, match="must be above 0 and at most 120s"):
        read(tmp_path, DEFAULT.strip() + " rto_min 120001ms\n")
