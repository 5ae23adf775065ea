"""Refuse, before anything is created, keys that real hosts of this machine do not support."""

from collections.abc import Iterator, Mapping
from typing import Any

from incast import units
from incast.errors import LiveError
from incast.live import kernel_switch
from incast.live.kernel_switch import Switches
from incast.live.machine import Machine
from incast.live.selfcheck import check_rate
from incast.live.stack import MOST_MSS, Stack
from incast.scenario import Scenario
from incast.scenario.resolved import Resolved

_WORKLOADS = {
    "barrier-read": {
        *("servers", "sru", "block", "blocks", "duration", "connections"),
        *("request_jitter", "start_spread", "request_spread", "handshakes"),
    },
    "long-flows": {"servers", "flows", "duration"},
}
_TRANSPORT = {
    *("name", "congestion_control", "congestion_control.name", "recovery", "recovery.name"),
    *("recovery.probes", "mss", "initial_window", "receive_window", "rto_min", "sack", "dsack"),
    *("timestamps", "delayed_ack", "ecn", "idle_restart"),
    *("send_jitter", "timer_tick", "timer_phase"),  # real hosts have these delays anyway
}
_SLOWEST = 10e6
MOST_RATE = 200e6
"""Links faster than this rate, in bit/s, need a self-check before the run."""
_LEAST_MSS = 88


def check(scenario: Scenario, machine: Machine) -> None:
    """Refuse a scenario that cannot be run on real hosts here.

    Raises
    ------
    LiveError
        A key has a value that the kernel does not support; the message names supported values.
    """
    for key in _keys(scenario):
        _check_key(key)
    points = scenario.plan.points
    for point in points:
        _check_point(point.here, machine)
    fastest = max(max(point.here.line_rate, point.here.server_rate) for point in points)
    if fastest > MOST_RATE:
        check_rate(fastest)


def checked_switch(name: str, scenario: Scenario) -> Switches:
    """Refuse a switch that does not exist, or that does not support a scenario.

    Raises
    ------
    LiveError
        The switch does not exist, or does not support the scenario.
    """
    if name not in list(Switches):
        raise LiveError(f"--switch: must be {' or '.join(Switches)}, not {name!r}")
    switch = Switches(name)
    if switch is Switches.KERNEL:
        if why := kernel_switch.available():
            raise LiveError(f"--switch: this machine has no {name!r} switch: {why}")
        for point in scenario.plan.points:
            kernel_switch.check(point.here)
    return switch


def _keys(scenario: Scenario) -> Iterator[str]:
    """Yield the dotted keys that a document sets or sweeps."""
    tables = {name: value for name, value in scenario.document.items() if name != "sweep"}
    yield from _flat(tables, "")
    yield from scenario.plan.swept


def _flat(tree: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and f"{above}{key}" != "transport.delayed_ack":
            yield from _flat(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _check_key(key: str) -> None:
    table, _, rest = key.partition(".")
    if table == "transport" and rest and rest not in _TRANSPORT:
        there = ", ".join(sorted(name for name in _TRANSPORT if "." not in name))
        raise LiveError(f"{key}: cannot be set on real hosts; [transport] may have {there}")


def _check_point(here: Resolved, machine: Machine) -> None:
    if why := here.other_family("live"):
        raise LiveError(why)
    network, tcp = here.tree["network"], here.tree["transport"]
    if here.topology != "star":
        raise LiveError(f"network.topology: real hosts are in a star, not in a {here.topology!r}")
    if network["clients"] != 1:
        raise LiveError(f"network.clients: must be 1 with real hosts, not {network['clients']}")
    if here.tree["background"]:
        raise LiveError("background: real hosts have no background traffic; remove it")
    _check_workload(here)
    if tcp["remedies"]:
        name = tcp["remedies"][0]["name"]
        raise LiveError(f"transport.remedies: the kernel has no {name!r}; remove it")
    _check_transport(here, machine)
    slowest = min(here.line_rate, here.server_rate)
    if slowest < _SLOWEST:
        least = units.rate(_SLOWEST)
        raise LiveError(
            f"network.rate: must be at least {least} with real hosts, not {units.rate(slowest)}"
        )


def _check_workload(here: Resolved) -> None:
    if len(here.workloads) > 1:
        raise LiveError("workload: real hosts have one workload; remove the others")
    workload = here.workload
    known = _WORKLOADS.get(here.doing)
    if known is None:
        there = " or ".join(_WORKLOADS)
        raise LiveError(f"workload.name: must be {there} with real hosts, not {here.doing!r}")
    harmless = {"name", "request_size", "interval"}
    given = (key for key in workload if key not in known | harmless)
    unknown = next(given, "interval" if here.facts["interval_s"] else None)
    if unknown is not None:
        raise LiveError(f"workload.{unknown}: cannot be set with real hosts; remove it")


def _check_transport(here: Resolved, machine: Machine) -> None:
    stack = Stack.of(here)
    if stack.control not in machine.controls:
        there = ", ".join(machine.controls)
        raise LiveError(
            f"transport.congestion_control: this kernel has {there}, not {stack.control!r}"
        )
    known = machine.recoveries
    if stack.recovery not in known or known[stack.recovery] > stack.sack:
        there = ", ".join(name for name, sack in known.items() if stack.sack or not sack)
        how = "with" if stack.sack else "without"
        raise LiveError(
            f"transport.recovery: {how} SACK the kernel has {there}, not {stack.recovery!r}"
        )
    if not _LEAST_MSS <= stack.mss <= MOST_MSS - 12 * stack.timestamps:
        most = MOST_MSS - 12 * stack.timestamps
        raise LiveError(f"transport.mss: must be from {_LEAST_MSS} to {most} here, not {stack.mss}")
