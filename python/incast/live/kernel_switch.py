"""The kernel's own switch, as a cross-check: a bridge with a shaped, limited queue to each host."""

import json
import subprocess
import time
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from incast._core import Namespace
from incast.errors import LiveError
from incast.live.namespaces import batch, executed, inside
from incast.scenario.resolved import Resolved

_ETHERNET = 14  # bytes of a frame's header, which tbf and bfifo count
_BURST = 3028  # two full frames, the shortest burst with which tbf keeps to its rate
_HOST_QUEUE = 1 << 24  # bytes; large enough that a host never drops its own packets
_LONGEST_DELAY = 100e-6  # seconds; link delays up to this are left out: the kernel takes as long


class Switches(StrEnum):
    """The switch that moves the frames between the hosts."""

    SIMULATED = "simulated"
    KERNEL = "kernel"


def check(here: Resolved) -> None:
    """Refuse a scenario that the kernel's switch does not support.

    Raises
    ------
    LiveError
        A key has an unsupported value; the message says which values are supported.
    """
    network = here.tree["network"]
    if network["queue"]["name"] != "drop-tail":
        raise LiveError(
            f"network.queue: with --switch kernel it must be 'drop-tail', not "
            f"{network['queue']['name']!r}"
        )
    if here.facts["buffer_total"] is not None or here.counts_packets:
        raise LiveError("network.buffer: with --switch kernel it must be in bytes, for each port")
    delay = here.facts["propagation_s"] / 4
    if delay > _LONGEST_DELAY:
        raise LiveError(
            f"network.delay: with --switch kernel it must be at most {_LONGEST_DELAY * 1e6:g}us, "
            f"not {delay * 1e6:g}us, because the kernel's switch has no delay"
        )


class KernelSwitch:
    """A bridge in this thread's namespace, with tbf and bfifo at every port.

    Parameters
    ----------
    here
        The scenario.
    hosts
        The hosts' namespaces, the clients first; the links of clients are shaped, too.
    """

    def __init__(self, here: Resolved, hosts: Sequence[Namespace]) -> None:
        self.home = Namespace.current()
        self.rate = here.line_rate
        overhead = max(here.facts["wire_bytes"] - here.packet - _ETHERNET, 0)
        # Include the Ethernet headers of full packets, which the scenario does not count.
        limit = here.buffer_bytes * (here.packet + _ETHERNET) // here.packet
        ports = range(len(hosts))
        batch(
            [
                "link add switch type bridge",
                "link set switch up",
                *(f"link set host{port} master switch" for port in ports),
            ]
        )
        rates = [here.line_rate if port == 0 else here.server_rate for port in ports]
        shaped = [_shaped(f"host{port}", rates[port], overhead, limit) for port in ports]
        executed("tc", [line for lines in shaped for line in lines])
        for host, rate in zip(hosts, rates, strict=True):
            with inside(host):
                executed("tc", _shaped("eth0", rate, overhead, _HOST_QUEUE))
        self.hosts = hosts
        self.start = time.monotonic()

    def stop(self) -> dict[str, Any]:
        """Remove the switch; return the columns that the kernel measures."""
        length = time.monotonic() - self.start
        with inside(self.home):
            text = executed("tc", ["-s", "-j", "qdisc", "show", "dev", "host0"], lines=False)
            told = next(one for one in json.loads(text) if one["kind"] == "tbf")
            executed("tc", [f"qdisc del dev host{port} root" for port in range(len(self.hosts))])
            batch(["link del switch"])
        for host in self.hosts:
            with inside(host):
                executed("tc", ["qdisc del dev eth0 root"])
        offered = told["packets"] + told["drops"]
        return {
            "drops": told["drops"],
            "drop_ratio": told["drops"] / max(offered, 1),
            "link_utilization": min(told["bytes"] * 8 / self.rate / length, 1.0),
            "missed": 0,
            "late_max_s": None,
            "late_p99_s": None,
            "busy": None,
        }


def _shaped(interface: str, rate: float, overhead: int, limit: int) -> list[str]:
    """Return the commands that make an interface send at a rate from a queue of `limit` bytes."""
    shape = f"rate {rate:.0f}bit burst {_BURST} limit {limit} overhead {overhead}"
    return [
        f"qdisc add dev {interface} root handle 1: tbf {shape}",
        f"qdisc add dev {interface} parent 1: handle 2: bfifo limit {limit}",
    ]


def available() -> str:
    """Return why the kernel cannot act as the switch; an empty string if it can."""
    try:
        with inside(Namespace()):
            executed("tc", _shaped("lo", 1e8, 0, 1 << 15))
            batch(["link add switch type bridge"])
    except (LiveError, subprocess.SubprocessError) as error:
        return str(error).removeprefix("live: ")
    return ""
