"""Tests of `incast live` without hosts: settings, commands, limits, rows, requests, notes."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import incast
from incast.errors import LiveError
from incast.live import backend, counters, kernel_switch, selfcheck, trust
from incast.live.kernel_switch import KernelSwitch, Switches
from incast.live.machine import Machine
from incast.live.refuse import check
from incast.live.selfcheck import Found
from incast.live.stack import Stack
from incast.live.star import _mac, address
from incast.live.traffic import Summary
from incast.live.trust import Clock, doubts
from incast.scenario.plan import Point
from incast.scenario.resolved import Resolved

MACHINE = Machine(2, "", ("reno", "cubic"), {"rack-tlp": True, "newreno": False})
NETWORK = {"rate": "100Mbps", "delay": "20us", "buffer": "32KiB"}
READ = {"name": "barrier-read", "servers": 4, "sru": "64KiB", "blocks": 2}


def here(**sections: Any) -> Resolved:
    return asked(**sections).plan.points[0].here


def asked(**sections: Any) -> incast.Scenario:
    given = {"profile": "linux", "network": NETWORK, "workload": READ}
    return incast.load({**given, "transport": {"name": "cubic"}, **sections})


def transport(**keys: object) -> dict[str, Any]:
    return {"transport": {"name": "cubic", **keys}}


@pytest.mark.parametrize(
    ("host", "there", "hardware"),
    [
        (0, "10.77.0.1", "02:00:00:00:00:00"),
        (1, "10.77.0.2", "02:00:00:00:00:01"),
        (255, "10.77.1.0", "02:00:00:00:00:ff"),
        (256, "10.77.1.1", "02:00:00:00:01:00"),
        (700, "10.77.2.189", "02:00:00:00:02:bc"),
    ],
)
def test_every_host_has_addresses_of_its_own(host: int, there: str, hardware: str) -> None:
    assert (address(host), _mac(host)) == (there, hardware)


@pytest.mark.parametrize(
    ("keys", "route", "first"),
    [
        ({}, "congctl cubic initcwnd 10 rto_min 200ms advmss 1460", None),
        ({"rto_min": "1ms"}, "congctl cubic initcwnd 10 rto_min 1ms advmss 1460", None),
        ({"rto_min": "400us"}, "congctl cubic initcwnd 10 rto_min 1ms advmss 1460", None),
        ({"rto_min": "2.6ms"}, "congctl cubic initcwnd 10 rto_min 3ms advmss 1460", None),
        (
            {"mss": 1460, "timestamps": False, "initial_window": "2seg"},
            "congctl cubic initcwnd 2 rto_min 200ms advmss 1460",
            None,
        ),
        (
            {"receive_window": "4seg"},
            "congctl cubic initcwnd 10 rto_min 200ms advmss 1460 window 5840",
            5840,
        ),
        # From 2^18 bytes on, the kernel tunes the window. 181 segments of 1448 are less, 182 more.
        (
            {"receive_window": "181seg"},
            "congctl cubic initcwnd 10 rto_min 200ms advmss 1460 window 264260",
            264_260,
        ),
        (
            {"receive_window": "182seg"},
            "congctl cubic initcwnd 10 rto_min 200ms advmss 1460",
            None,
        ),
    ],
)
def test_a_route_has_the_options_of_the_scenario(
    keys: dict[str, object], route: str, first: int | None
) -> None:
    stack = Stack.of(here(**transport(**keys)))
    assert (stack.route, stack.first_window) == (route, first)


@pytest.mark.parametrize(
    ("keys", "changed"),
    [
        ({}, {}),
        ({"recovery": {"name": "rack-tlp", "probes": 0}}, {"tcp_early_retrans": 0}),
        (
            {"recovery": "newreno", "sack": False},
            {"tcp_sack": 0, "tcp_recovery": 0, "tcp_early_retrans": 0},
        ),
        ({"dsack": False}, {"tcp_dsack": 0}),
        ({"timestamps": False, "mss": 1460}, {"tcp_timestamps": 0}),
        ({"ecn": "on"}, {"tcp_ecn": 1}),
        ({"idle_restart": "none"}, {"tcp_slow_start_after_idle": 0}),
    ],
)
def test_variables_are_those_of_the_scenario(
    keys: dict[str, object], changed: dict[str, object]
) -> None:
    usual: dict[str, object] = {
        "tcp_no_metrics_save": 1,
        "tcp_sack": 1,
        "tcp_dsack": 1,
        "tcp_timestamps": 1,
        "tcp_recovery": 1,
        "tcp_early_retrans": 3,
        "tcp_ecn": 0,
        "tcp_slow_start_after_idle": 1,
        "tcp_frto": 2,
        "tcp_wmem": "4096 4194304 6291456",
    }
    queue = NETWORK | {"queue": {"name": "ecn-threshold", "threshold": "20KB"}}
    network = {"network": queue} if "ecn" in keys else {}
    assert Stack.of(here(**transport(**keys), **network)).sysctls == usual | changed


@pytest.mark.parametrize(
    ("least", "rto", "told"),
    [
        (0.2, None, False),
        (0.2, 0.4, False),
        (0.2, 0.401, True),
        (0.001, 0.006, False),
        (0.001, 0.0061, True),
        (0.005, 0.01, False),
        (0.006, 0.012, False),
        (0.006, 0.0121, True),
    ],
)
def test_an_rto_is_told_if_it_is_far_from_what_was_requested(
    least: float, rto: float | None, told: bool
) -> None:
    stack = replace(Stack.of(here()), rto_min=least)
    assert bool(stack.instead(rto)) is told


@pytest.mark.parametrize(
    ("sections", "refused"),
    [
        ({"network": NETWORK | {"rate": "10Mbps"}}, ""),
        ({"network": NETWORK | {"rate": "9.9Mbps"}}, "network.rate"),
        ({"network": NETWORK | {"server_rate": "9Mbps"}}, "network.rate"),
        ({"network": NETWORK | {"rate": "200Mbps"}}, ""),
        (transport(mss=88), ""),
        (transport(mss=87), "from 88 to 1448"),
        (transport(mss=1448), ""),
        (transport(mss=1449), "from 88 to 1448"),
        (transport(mss=1460, timestamps=False), ""),
        (transport(mss=1461, timestamps=False), "from 88 to 1460"),
        ({"workload": READ | {"interval": "1ms"}}, "workload.interval"),
        ({"workload": READ | {"request_spread": "1ms"}}, ""),
        (transport(delayed_ack={"segments": 2}), ""),
    ],
)
def test_limits_of_real_hosts_are_these(sections: dict[str, Any], refused: str) -> None:
    if not refused:
        check(asked(**sections), MACHINE)
        return
    with pytest.raises(LiveError, match=refused):
        check(asked(**sections), MACHINE)


def test_a_fast_link_is_measured_first(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[float] = []
    monkeypatch.setattr("incast.live.refuse.check_rate", measured.append)
    for rate, server in (("200Mbps", "200Mbps"), ("201Mbps", "10Mbps"), ("50Mbps", "300Mbps")):
        check(asked(network=NETWORK | {"rate": rate, "server_rate": server}), MACHINE)
    assert measured == [201e6, 300e6]


@pytest.mark.parametrize(
    ("busy", "threads", "status", "trusted"),
    [
        (0.9, 0.85, "ok", True),
        (0.899, 0.85, "ok", False),
        (0.9, 0.851, "ok", False),
        (0.9, 0.85, "untrusted", False),
    ],
)
def test_a_rate_is_trusted_if_the_link_is_full_and_the_threads_are_not(
    busy: float, threads: float, status: str, trusted: bool
) -> None:
    row = {"link_utilization": busy, "live.busy": threads, "status": status}
    found = Found(1e8, row | {"live.late_p99_s": 2e-5, "live.late_max_s": 3e-3})
    assert found.trusted is trusted
    word = "trusted" if trusted else "not trusted"
    assert str(found).startswith(f"100 Mbps: {word}: 99 % of the frames at most 20 µs late, the")
    assert ", the worst 3 ms; link busy 90\u00a0%, threads busy 85\u00a0%" in str(found)


def test_a_rate_that_fails_once_is_measured_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[dict[str, Any]] = []

    def row(rate: float, workload: dict[str, Any]) -> dict[str, Any]:
        assert workload == {"name": "long-flows", "servers": 4, "duration": "500ms"}
        share = 0.95 if len(rows) == good else 0.5
        told = {"link_utilization": share, "live.busy": 0.1, "status": "ok", "rate": rate}
        rows.append(told | {"live.late_p99_s": 0.0, "live.late_max_s": 0.0})
        return rows[-1]

    monkeypatch.setattr(selfcheck, "_row", row)
    for good, looks in ((0, 1), (1, 2), (2, 2)):
        rows.clear()
        assert selfcheck.measure(5e7).trusted == (good < 2)
        assert len(rows) == looks
    rows.clear()
    with pytest.raises(LiveError, match="100Mbps, not 50 Mbps: not trusted"):
        selfcheck.check_rate(5e7)
    assert selfcheck.RATES == (10e6, 50e6, 100e6, 200e6, 500e6)


def test_the_shortest_timer_is_that_of_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, dict[str, Any]]] = []

    def row(rate: float, workload: dict[str, Any]) -> dict[str, Any]:
        asked.append((rate, workload))
        return {"live.rto_s": told}

    monkeypatch.setattr(selfcheck, "_row", row)
    for told in (0.004, None):
        assert selfcheck.shortest_rto() == told
    read = {"name": "barrier-read", "servers": 1, "sru": "1KiB", "blocks": 20}
    assert asked == [(100e6, read | {"connections": "persistent"})] * 2
    monkeypatch.setattr(selfcheck, "measure", lambda rate: f"{rate:.0f}")
    monkeypatch.setattr(selfcheck, "shortest_rto", lambda: 0.004)
    *rates, timer = selfcheck.lines()
    assert rates == ["10000000", "50000000", "100000000", "200000000", "500000000"]
    assert timer == "RTO: at least 4 ms; 1 ms was requested"


def test_a_measurement_has_a_short_timer_and_every_kernels_control(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[bool] = []

    class Quiet:
        def control(self) -> None: ...

        def run(self, point: Point, seed: int, traces: object, *_: object) -> dict[str, Any]:
            here = point.here
            told = (here.line_rate, here.buffer_bytes, here.rto_min, seed)
            return {"rows": [{"told": told, "control": Stack.of(here).control}]}

        def close(self) -> None:
            closed.append(True)

    monkeypatch.setattr(selfcheck, "Kernel", Quiet)
    flows = {"name": "long-flows", "servers": 4, "duration": "500ms"}
    found = selfcheck._row(2e8, flows)
    assert found == {"told": (2e8, 65_536, 0.001, 1), "control": "reno"}
    assert closed == [True]


@pytest.mark.parametrize(
    ("change", "hosts", "doubted"),
    [
        ({"late_max_s": 0.01, "late_p99_s": 0.0005}, Clock(1, 0.95, 0.05), 0),
        ({"late_max_s": 0.0101}, Clock(1, 0, 0), 1),
        ({"late_p99_s": 0.00051}, Clock(1, 0, 0), 1),
        ({"busy": 0.95}, Clock(1, 0, 0), 0),
        ({"busy": 0.951}, Clock(1, 0, 0), 1),
        ({}, Clock(1, 0.951, 0), 1),
        ({}, Clock(1, 0, 0.051), 1),
        ({"missed": 1, "late_max_s": 1.0, "busy": 1.0}, Clock(1, 0, 0), 3),
    ],
)
def test_limits_of_trust_are_these(change: dict[str, float], hosts: Clock, doubted: int) -> None:
    measured = {"late_max_s": None, "late_p99_s": None, "missed": 0, "busy": None}
    assert len(doubts(measured | change, hosts)) == doubted


def test_a_clock_tells_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = Clock(12.0, 3.0, 1.0).since(Clock(8.0, 1.0, 0.0))
    assert shares == Clock(4.0, 0.5, 0.25)
    assert Clock(1.0, 1.0, 1.0).since(Clock(1.0, 1.0, 1.0)) == Clock(1e-9, 0.0, 0.0)
    monkeypatch.setattr(
        trust, "Path", lambda _: SimpleNamespace(exists=lambda: True, read_text=lambda: "7 5000 2")
    )
    assert Clock.now().waiting == 5e-6


NETSTAT = """\
TcpExt: SyncookiesSent TCPTimeouts TCPLossProbes
TcpExt: 1 20 300
IpExt: InNoRoutes InOctets
IpExt: 4 5
Tcp: RtoAlgorithm RetransSegs
Tcp: 1 17
"""


def test_counters_of_tcp_are_pairs_of_lines() -> None:
    assert counters._parsed(NETSTAT) == {
        "SyncookiesSent": 1,
        "TCPTimeouts": 20,
        "TCPLossProbes": 300,
        "RtoAlgorithm": 1,
        "RetransSegs": 17,
    }


def test_a_state_of_a_connection_is_read_at_its_places() -> None:
    """In `struct tcp_info`, rto is at byte 8, rtt at byte 68, data_segs_out at byte 156."""
    info = bytearray(192)
    for place, value in ((8, 204_000), (12, 1), (68, 350), (72, 2), (156, 77), (160, 3)):
        info[place : place + 4] = value.to_bytes(4, "little")
    one = SimpleNamespace(getsockopt=lambda *_: bytes(info))
    told = counters.Connection.of(one)  # type: ignore[arg-type]
    assert told == counters.Connection(0.204, 0.00035, 77)


# The kernel's switch.


@pytest.mark.parametrize(
    ("network", "refused"),
    [
        ({}, ""),
        ({"queue": "red"}, "network.queue"),
        ({"buffer": "20pkt"}, "network.buffer"),
        ({"buffer": {"name": "dynamic", "total": "64KiB", "alpha": 1}}, "network.buffer"),
        ({"delay": "100us"}, ""),
        ({"delay": "101us"}, "must be at most 100us, not 101us, because the kernel's switch has"),
    ],
)
def test_the_switch_of_the_kernel_has_limits(network: dict[str, object], refused: str) -> None:
    scenario = here(network=NETWORK | network)
    if not refused:
        kernel_switch.check(scenario)
        return
    with pytest.raises(LiveError, match=refused):
        kernel_switch.check(scenario)


class Kernel:
    """Stands for the kernel: records the commands of `ip` and `tc`, with their namespaces."""

    def __init__(self, told: Mapping[str, int]) -> None:
        self.told = told
        self.done: list[tuple[str, str]] = []
        self.place = "home"

    @contextmanager
    def inside(self, place: str) -> Iterator[None]:
        before, self.place = self.place, place
        yield
        self.place = before

    def batch(self, lines: Sequence[str]) -> None:
        self.done += [(self.place, f"ip {line}") for line in lines]

    def executed(self, tool: str, words: Sequence[str], *, lines: bool = True) -> str:
        self.done += [(self.place, f"{tool} {line}") for line in (words if lines else [])]
        return json.dumps([{"kind": "bfifo"}, {"kind": "tbf", **self.told}])


def switched(
    monkeypatch: pytest.MonkeyPatch, told: Mapping[str, int], seconds: float = 2.0
) -> tuple[Kernel, dict[str, Any]]:
    """Start and end a switch of the kernel; return its commands and its columns."""
    kernel, times = Kernel(told), iter([100.0, 100.0 + seconds])
    for name in ("inside", "batch", "executed"):
        monkeypatch.setattr(kernel_switch, name, getattr(kernel, name))
    monkeypatch.setattr("incast.live.kernel_switch.time.monotonic", lambda: next(times))
    monkeypatch.setattr(kernel_switch, "Namespace", SimpleNamespace(current=lambda: "home"))
    scenario = here(network=NETWORK | {"server_rate": "50Mbps"})
    switch = KernelSwitch(scenario, ["client", "one"])  # type: ignore[list-item]
    return kernel, switch.stop()


@pytest.mark.parametrize(
    ("packets", "drops", "share"), [(0, 0, 0.0), (3, 1, 0.25), (0, 1, 1.0), (1, 0, 0.0)]
)
def test_the_share_of_drops_is_of_all_that_was_offered(
    monkeypatch: pytest.MonkeyPatch, packets: int, drops: int, share: float
) -> None:
    told = {"packets": packets, "drops": drops, "bytes": 12_500_000}
    _, columns = switched(monkeypatch, told)
    assert columns == {
        "drops": drops,
        "drop_ratio": share,
        "link_utilization": 0.5,  # 100 Mbit, of 200 Mbit in two seconds
        "missed": 0,
        "late_max_s": None,
        "late_p99_s": None,
        "busy": None,
    }


def test_a_link_is_never_more_than_full(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"packets": 1, "drops": 0, "bytes": 12_500_000}
    assert switched(monkeypatch, told, 0.9)[1]["link_utilization"] == 1.0


def test_ports_and_hosts_are_shaped_by_their_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, _ = switched(monkeypatch, {"packets": 0, "drops": 0, "bytes": 0})
    # 32 KiB of packets, plus 14 bytes of header per 1500. Preamble, checksum, gap: 24 bytes.
    limit = 32768 * 1514 // 1500

    def shaped(port: str, rate: str, size: int) -> list[str]:
        shape = f"rate {rate}bit burst 3028 limit {size} overhead 24"
        return [
            f"tc qdisc add dev {port} root handle 1: tbf {shape}",
            f"tc qdisc add dev {port} parent 1: handle 2: bfifo limit {size}",
        ]

    assert [line for place, line in kernel.done if place == "home"] == [
        "ip link add switch type bridge",
        "ip link set switch up",
        "ip link set host0 master switch",
        "ip link set host1 master switch",
        *shaped("host0", "100000000", limit),
        *shaped("host1", "50000000", limit),
        "tc qdisc del dev host0 root",
        "tc qdisc del dev host1 root",
        "ip link del switch",
    ]
    for host, rate in (("client", "100000000"), ("one", "50000000")):
        assert [line for place, line in kernel.done if place == host] == [
            *shaped("eth0", rate, 2**24),
            "tc qdisc del dev eth0 root",
        ]


# Rows.


def row(summary: Summary, servers: dict[str, int], readers: dict[str, int]) -> dict[str, Any]:
    connections = [SimpleNamespace(segments=count) for count in (3, 4)]
    client: Any = SimpleNamespace(connections=connections)
    return backend._row(9, summary, client, Counter(servers), Counter(readers))


def test_a_row_counts_what_the_kernels_count() -> None:
    summary = Summary(True, 10_000, 2.0, fairness=0.9, stalls=[0.3, 0.5])
    servers = {
        "TCPTimeouts": 5, "TCPSynRetrans": 2, "TCPLossProbes": 3, "TCPSackRecovery": 4,
        "TCPRenoRecovery": 6, "RetransSegs": 20,
    }  # fmt: skip
    told = row(summary, servers, {"TCPTimeouts": 10, "TCPSynRetrans": 100})
    wanted = {
        "seed": 9, "group": "all", "goodput_bps": 40_000.0, "blocks": 0, "bytes": 10_000,
        "timeouts": 17, "timeouts_handshake": 12, "stalls": 2, "stall_max_s": 0.5,
        "tail_probes": 3, "fast_retransmits": 10, "retransmitted_packets": 20,
        "packets_sent": 7, "fairness": 0.9, "elapsed_s": 2.0, "completion_s": None,
    }  # fmt: skip
    assert {name: told[name] for name in wanted} == wanted
    nothing = row(Summary(), {}, {})
    assert (nothing["goodput_bps"], nothing["stall_max_s"]) == (0.0, None)


def test_quantiles_of_a_row_are_times_that_occurred() -> None:
    times = [float(number) for number in np.random.default_rng(1).permutation(1000) + 1]
    told = row(Summary(True, 1, 1.0, times), {}, {})
    names = ("completion_s", "completion_max_s", "completion_p50_s", "completion_p95_s")
    assert [told[name] for name in names] == [500.5, 1000.0, 501.0, 951.0]
    assert (told["completion_p99_s"], told["completion_p999_s"]) == (991.0, 1000.0)
    alone = row(Summary(True, 1, 1.0, [0.25]), {}, {})
    assert {alone[f"completion_{name}_s"] for name in ("p50", "p999", "max")} == {0.25}


@pytest.mark.parametrize(
    ("finished", "why", "status"),
    [(True, [], "ok"), (True, ["late"], "untrusted"), (False, ["late"], "time-limit")],
)
def test_a_status_is_one_word(finished: bool, why: list[str], status: str) -> None:
    assert backend._status(Summary(finished), why) == status


def test_a_backend_is_the_simulated_switch_without_traces() -> None:
    assert backend.Kernel().switch is Switches.SIMULATED
    assert backend.Kernel().version.endswith(" simulated")
    assert backend.Kernel(Switches.KERNEL).version.endswith(" kernel")
    control = backend.Kernel().control()
    assert (control.cancelled, control.progress) == (False, 0.0)
    control.cancel()
    assert control.cancelled
    with pytest.raises(LiveError, match="the kernel records none"):
        backend.Kernel().run(asked().plan.points[0], 1, ["queue"], control, lambda *_: None)
