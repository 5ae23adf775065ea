"""The exact contents of the catalogue: keys, thresholds, commands and code of every fix."""

import re
from typing import Any

import pytest

import incast
from incast.advise.case import case_of
from incast.advise.fixes import Fix, Who, catalogue

HERE: dict[str, Any] = {
    "profile": "linux",
    "network": {"rate": "1Gbps", "delay": "25us", "buffer": "128KiB"},
    "workload": {"servers": 16, "sru": "128KiB", "blocks": 2, "connections": "persistent"},
    "transport": {"recovery": "newreno", "sack": False},
}
"""95 packets fit: 87 in the buffer, 8 on the path. A packet has 1500 bytes and takes 12 µs."""


def at(changes: dict[str, object] | None = None) -> dict[str, Fix]:
    """Return the fixes of a changed scenario, by name."""
    scenario = incast.load(HERE)
    for key, value in (changes or {}).items():
        scenario = scenario.override(key, value)
    return {fix.name: fix for fix in catalogue(case_of(scenario))}


def of(found: dict[str, Fix], beginning: str) -> list[str]:
    return [name for name in found if re.match(beginning, name)]


def batching(n: int, **more: int) -> dict[str, object]:
    return {"transport.remedies": [{"name": "batching", "n": n, **more, "refill": "each"}]}


def marks(packets: int) -> dict[str, object]:
    return {"name": "ecn-threshold", "threshold": f"{packets}pkt"}


def dctcp(packets: int) -> dict[str, object]:
    return {
        "network.queue": marks(packets),
        "transport.congestion_control": "dctcp",
        "transport.ecn": None,
        "transport.ecn_packets": None,
    }


def ranges(size: int, blocks: int) -> dict[str, object]:
    return {"workload.block": None, "workload.sru": size, "workload.blocks": blocks}


def staggering(interval: str) -> dict[str, object]:
    return {"transport.remedies": [{"name": "staggering", "interval": interval}]}


APPLICATION: dict[str, tuple[dict[str, object], int]] = {
    **{f"at most {n} at once": (batching(n), 0) for n in (1, 2, 4, 8)},
    **{
        f"at most {n} at once, windows of {w} segments": (batching(n, window=w), 1)
        for n, w in ((16, 4), (10, 4), (10, 8), (5, 8), (5, 16), (2, 16))
    },
    "ccs": ({"transport.remedies": ["ccs"]}, 2),
    "ocs": ({"transport.remedies": ["ocs"]}, 2),
    "ranges of 32 KiB": (ranges(32768, 8), 2),
    "ranges of 32 KiB, one by one": (ranges(32768, 8) | batching(1), 2),
    "ranges of 8 KiB": (ranges(8192, 32), 2),
    "ranges of 8 KiB, one by one": (ranges(8192, 32) | batching(1), 2),
    "ranges of 6\u202f899 B": (ranges(6899, 38), 2),
    "ranges of 6\u202f899 B, one by one": (ranges(6899, 38) | batching(1), 2),
    "requests within 8.4 ms": ({"workload.start_spread": "8400000ns"}, 3),
    "requests within 17 ms": ({"workload.start_spread": "17000000ns"}, 3),
    "requests within 34 ms": ({"workload.start_spread": "34000000ns"}, 3),
    "a request every 1.2 ms": (staggering("1200000ns"), 3),
}
HOSTS: dict[str, tuple[dict[str, object], int]] = {
    **{
        f"receive window of {n} segments": ({"transport.receive_window": f"{n}seg"}, effort)
        for n, effort in ((2, 2), (4, 1), (5, 1), (10, 1))
    },
    "quick ACKs": ({"transport.delayed_ack": False}, 0),
    **{
        f"rto_min {ms}ms": ({"transport.rto_min": f"{ms}ms"}, effort)
        for ms, effort in ((1, 4), (5, 3), (10, 2), (20, 1), (50, 0))
    },
    **{f"initcwnd {n}": ({"transport.initial_window": f"{n}seg"}, 2) for n in (1, 2, 4)},
    "cwnd at most 5": ({"transport.receive_window": "5seg"}, 3),
    "SACK, RACK and tail loss probes": (
        {"transport.recovery": "rack-tlp", "transport.sack": True},
        0,
    ),
    "slow start after idle off": ({"transport.idle_restart": "none"}, 1),
    **{
        f"congestion control {one}": ({"transport.congestion_control": one}, 4)
        for one in ("reno", "bbr", "vegas")
    },
    "pacing with fq": ({"transport.pacing": True}, 2),
    **{
        f"at most {mbps} Mbps per connection": ({"network.server_rate": f"{mbps}000kbps"}, 5)
        for mbps in (62, 120, 250)
    },
}
SWITCH: dict[str, tuple[dict[str, object], int]] = {
    "2 times the buffer": ({"network.buffer": "262144B"}, 2),
    "4 times the buffer": ({"network.buffer": "524288B"}, 4),
    "a buffer of 150 packets": ({"network.buffer": "225000B"}, 2),
    "a buffer of 1365 packets": ({"network.buffer": "2047500B"}, 16),
    "DCTCP, marks from 2 packets": (dctcp(2), 1),
    "DCTCP, marks from 20 packets": (dctcp(20), 1),
    "ECN, marks from 20 packets": ({"network.queue": marks(20), "transport.ecn": "on"}, 0),
}


def test_keys_and_efforts_are_these() -> None:
    found = at()
    told = {name: (dict(fix.changes), fix.effort) for name, fix in found.items()}
    assert told == APPLICATION | HOSTS | SWITCH
    for name, fix in found.items():
        whose = {Who.APPLICATION: APPLICATION, Who.SWITCH: SWITCH}
        assert name in whose.get(fix.who, HOSTS)
    clients = {name for name, fix in found.items() if fix.who is Who.CLIENT}
    assert clients == {"quick ACKs", *of(found, "receive window")}


ROUTE = (
    "{side}=192.0.2.1  # an address of the {sides}; use your own\n"
    "its_route() {{ ip route show to match $1 | tail -n 1 | sed 's/rto_min lock/rto_min/'; }}\n"
    ': "${{OLD_{option}=$(its_route ${side} | '
    "sed -n 's/.* \\({option} \\(lock \\)*[^ ]*\\).*/\\1/p')}}\"  # the present value\n"
    "ip route change $(its_route ${side} | sed 's/ {option} \\(lock \\)*[^ ]*//') {option} {value}"
)
ROUTE_BACK = """\
[ -z "${{OLD_{option}+kept}}" ] || \
ip route change $(its_route ${side} | sed 's/ {option} \\(lock \\)*[^ ]*//') $OLD_{option}
unset OLD_{option}"""


@pytest.mark.parametrize(
    ("name", "option", "value", "side"),
    [
        ("rto_min 5ms", "rto_min", "5ms", "CLIENT"),
        ("initcwnd 2", "initcwnd", "2", "CLIENT"),
        ("cwnd at most 5", "cwnd", "lock 5", "CLIENT"),
        ("quick ACKs", "quickack", "1", "SERVER"),
    ],
)
def test_an_option_of_a_route_is_set_and_restored(
    name: str, option: str, value: str, side: str
) -> None:
    fix = at()[name]
    given = {"option": option, "value": value, "side": side, "sides": f"{side.lower()}s"}
    flush = "\nip tcp_metrics flush  # metrics that the kernel has stored"
    more = flush if option == "cwnd" else ""
    assert fix.text == ROUTE.format(**given) + more
    assert fix.rollback == ROUTE_BACK.format(**given) + more


def set_to(key: str, value: str) -> str:
    old = f"OLD_{key}"
    return (
        f': "${{{old}=$(sysctl -n net.ipv4.{key})}}"  # the present value\n'
        f'sysctl -w net.ipv4.{key}="{value}"'
    )


def restored(key: str) -> str:
    old = f"OLD_{key}"
    return f'[ -z "${{{old}+kept}}" ] || sysctl -w net.ipv4.{key}="${old}"\nunset {old}'


EVERYWHERE = "# on the servers and on the clients"


@pytest.mark.parametrize(
    ("name", "values", "before"),
    [
        # A segment needs 2304 bytes of memory; the memory is for one segment more than the window.
        ("receive window of 2 segments", {"tcp_rmem": "4096 6912 6912"}, ""),
        ("receive window of 10 segments", {"tcp_rmem": "4096 25344 25344"}, ""),
        ("slow start after idle off", {"tcp_slow_start_after_idle": "0"}, ""),
        ("congestion control reno", {"tcp_congestion_control": "reno"}, ""),
        ("congestion control bbr", {"tcp_congestion_control": "bbr"}, "modprobe tcp_bbr\n"),
        (
            "SACK, RACK and tail loss probes",
            {"tcp_sack": "1", "tcp_recovery": "1", "tcp_early_retrans": "3"},
            f"{EVERYWHERE}\n",
        ),
    ],
)
def test_variables_of_the_kernel_are_set_and_restored(
    name: str, values: dict[str, str], before: str
) -> None:
    fix = at()[name]
    assert fix.text == before + "\n".join(set_to(*one) for one in values.items())
    comment = before if before.startswith("#") else ""
    assert fix.rollback == comment + "\n".join(restored(key) for key in values)


def test_the_queue_of_an_interface_is_set_and_restored() -> None:
    found = at()
    for name, kind in {
        "pacing with fq": "fq",
        "at most 62 Mbps per connection": "fq maxrate 62000kbit",
    }.items():
        assert found[name].text == (
            "DEV=eth0  # the interface to the clients; use your own\n"
            f"tc qdisc replace dev $DEV root {kind}\nOLD_qdisc=default"
        )
        assert found[name].rollback == (
            '[ -z "${OLD_qdisc+kept}" ] || tc qdisc del dev $DEV root\nunset OLD_qdisc'
        )


SWITCH_BACK = """\
if sudo config list-checkpoints | grep -q before-incast; then
    sudo config rollback before-incast
    sudo config delete-checkpoint before-incast
fi"""


def test_a_switch_keeps_its_configuration_once() -> None:
    fix = at()["2 times the buffer"]
    assert '"egress_lossy_profile": {\n      "static_th": "262144"\n    }' in fix.text
    assert fix.text.endswith(
        "sudo config list-checkpoints | grep -q before-incast || "
        "sudo config checkpoint before-incast\nsudo config load -y incast.json"
    )
    assert fix.rollback == SWITCH_BACK


def test_marks_are_undone_at_the_hosts_first() -> None:
    found = at()
    dctcp, ecn = found["DCTCP, marks from 20 packets"], found["ECN, marks from 20 packets"]
    keys = {"tcp_congestion_control": "dctcp", "tcp_ecn": "1"}
    hosts = "\n".join(set_to(*one) for one in keys.items())
    assert dctcp.text.endswith(f"\n{EVERYWHERE}\nmodprobe tcp_dctcp\n{hosts}")
    assert ecn.text.endswith(f"\n{EVERYWHERE}\n{set_to('tcp_ecn', '1')}")
    assert '"green_min_threshold": "30000"' in dctcp.text, "20 packets of 1500 bytes"
    assert ecn.rollback == f"{EVERYWHERE}\n{restored('tcp_ecn')}\n# on the switch\n{SWITCH_BACK}"


# The limits of the values for which there is a fix.


def test_no_program_waits_for_less_than_a_millisecond() -> None:
    # 1448 bytes of data take 1538 bytes on the link, at 1 Gbit/s. The times are rounded up.
    assert not of(at({"workload.sru": "110KiB"}), "a request every"), "960 µs each"
    assert of(at({"workload.sru": "126KiB"}), "a request every") == ["a request every 1.1 ms"]
    assert of(at({"workload.sru": "146000B"}), "a request every") == ["a request every 1.3 ms"]
    assert of(at({"workload.sru": "1460000B"}), "a request every") == ["a request every 13 ms"]
    assert of(at({"workload.sru": "16KiB"}), "requests within") == []
    assert of(at({"workload.sru": "20KiB"}), "requests within") == ["requests within 5.2 ms"]
    paced = at()["a request every 1.2 ms"].text
    assert "due += 0.0012  # seconds" in paced
    assert "asyncio.sleep(max(due - time.monotonic(), 0))" in paced
    random = at()["requests within 17 ms"].text
    assert "asyncio.sleep(random.uniform(0, 0.017))" in random


@pytest.mark.parametrize(
    "workload",
    [
        {"name": "long-flows", "servers": 16, "duration": "50ms"},
        {"name": "all-to-all", "message": "64KiB", "rounds": 2},
    ],
)
def test_nothing_is_asked_where_nobody_asks(workload: dict[str, Any]) -> None:
    network = HERE["network"] | ({"clients": 4} if workload["name"] == "all-to-all" else {})
    case = case_of(incast.load(HERE | {"workload": workload, "network": network}))
    assert {fix.who for fix in catalogue(case)} <= {Who.CLIENT, Who.SERVERS, Who.SWITCH}


def test_selective_acks_switch_on_what_they_need() -> None:
    name = "SACK, RACK and tail loss probes"
    assert at({"transport.sack": True})[name].changes == {"transport.recovery": "rack-tlp"}
    document = HERE | {"transport": {}}
    assert name not in {fix.name for fix in catalogue(case_of(incast.load(document)))}


def test_a_buffer_holds_the_burst_of_the_model() -> None:
    """16 servers send 10 packets each at once; n·w - 1 - (w - 1) = 150 packets wait at the peak."""
    fresh = {"workload.connections": "fresh"}
    assert of(at(fresh), "a buffer") == ["a buffer of 151 packets"], "and 16 FINs of 52 bytes"
    counted = at(fresh | {"network.buffer": "87pkt"})
    assert of(counted, "a buffer") == ["a buffer of 166 packets"], "and 16 FINs"
    assert of(at({"network.buffer": "150pkt"}), "a buffer") == ["a buffer of 1365 packets"]
    assert at({"network.buffer": "149pkt"})["a buffer of 150 packets"].changes == {
        "network.buffer": "150pkt"
    }
    # With server links ten times as fast, (w - 1) / 10 packets leave during the burst: for w = 10,
    # no packet.
    faster = at({"network.server_rate": "10Gbps"})
    assert "a buffer of 159 packets" in faster
    large = {"workload.servers": 100, "workload.sru": "1MiB"}
    assert of(at(large), "a buffer") == ["a buffer of 990 packets"], "no switch has 108 MB"


def test_a_held_burst_loses_nothing() -> None:
    fresh = {"workload.connections": "fresh", "workload.sru": "14480B"}
    scenario = incast.load(HERE)
    for key, value in (fresh | dict(at(fresh)["a buffer of 151 packets"].changes)).items():
        scenario = scenario.override(key, value)
    summary = incast.run(scenario.override("run.seeds", 3)).summary()
    assert summary["drops"][0] == 0
    less = scenario.override("network.buffer", "128KiB").override("run.seeds", 3)
    assert incast.run(less).summary()["drops"][0] > 0


def test_alpha_grows_until_it_holds_the_burst() -> None:
    """150 packets are 225 kB: alpha 2^-2 gives a queue a fifth of 2 MB, but 2^-3 only a ninth.

    1365 packets are more than 2 MB, so no alpha is enough for them.
    """
    shared = {"name": "dynamic", "total": "2MB", "alpha": "2^-7"}
    assert of(at({"network.buffer": shared}), "alpha") == [f"alpha 2^{n}" for n in range(-6, -1)]
    fresh = {"workload.connections": "fresh", "network.buffer": shared | {"total": "500kB"}}
    # The burst needs 225 of 500 kB, and alpha 2^0 gives a half. 2^-3 is 16 times the present 2^-7.
    assert of(at(fresh), "alpha") == [f"alpha 2^{n}" for n in (-6, -5, -4, -3, 0)]


def test_ranges_leave_four_segments_and_are_whole_blocks() -> None:
    assert not of(at({"workload.sru": "16KB"}), "ranges"), "16 KB are 12 segments"
    told = at({"workload.sru": "24KB", "network.buffer": "150KB"})
    assert of(told, "ranges") == [
        f"ranges of {size}{how}" for size in ("8 KB", "6 KB") for how in (", one by one", "")
    ]
    fix = told["ranges of 6 KB"]
    assert (fix.pieces, fix.changes["workload.blocks"]) == (4, 8)
    assert "range(0, size, 6000)" in fix.text
    assert "Plan.fixed(16, window=None)" in fix.text
    assert "Plan.fixed(1, window=None)" in told["ranges of 6 KB, one by one"].text
    fresh = at({"workload.connections": "fresh"})["ranges of 32 KiB"]
    assert fresh.changes["workload.connections"] == "persistent"
    assert not of(at({"workload.interval": "10ms"}), "ranges")


def test_timers_are_at_least_a_round_trip_and_told_where_they_are_premature() -> None:
    far = at({"network.delay": "1ms"})
    assert of(far, "rto_min") == [f"rto_min {ms}ms" for ms in (5, 10, 20, 50)]
    assert of(at({"transport.rto_min": "10ms"}), "rto_min") == ["rto_min 1ms", "rto_min 5ms"]
    # If the buffer is full, the delay is 1.2 ms: 87 packets of 12 µs and a round trip.
    assert "some timeouts are premature" in at()["rto_min 1ms"].risk
    assert "On longer paths" in at()["rto_min 5ms"].risk
    assert "no timeout shorter than 8 ms" in at()["rto_min 5ms"].risk
    assert "no timeout shorter than 8 ms" not in at()["rto_min 10ms"].risk


def test_windows_are_below_those_that_are_there() -> None:
    assert not of(at({"transport.receive_window": "4seg"}), "cwnd at most")
    told = of(at({"transport.receive_window": "10seg"}), "receive window")
    assert told == [f"receive window of {n} segments" for n in (2, 4, 5)]
    assert of(at({"transport.initial_window": "2seg"}), "initcwnd") == ["initcwnd 1"]


def test_marks_need_room_for_two_segments_of_each() -> None:
    assert of(at({"workload.servers": 47}), "ECN"), "94 of 95 packets"
    assert not of(at({"workload.servers": 48}), "ECN|DCTCP")
    assert not of(at({"network.queue": marks(20), "transport.ecn": "on"}), "ECN|DCTCP")
    small = at({"network.buffer": "20pkt", "workload.servers": 8})
    assert of(small, "ECN") == ["ECN, marks from 10 packets"], "half of the buffer"
