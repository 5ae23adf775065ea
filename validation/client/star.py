"""The star of `incast live` with the kernel's switch, because this also forwards HTTP traffic."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import incast
from incast.live.kernel_switch import KernelSwitch, available
from incast.live.machine import Machine
from incast.live.namespaces import inside
from incast.live.stack import Stack
from incast.live.star import Ends, Star

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incast.scenario.resolved import Resolved

SCENARIO = {
    "profile": "linux",
    "network": {"rate": "100Mbps", "delay": "25us", "buffer": "32KB"},
    "transport": {"name": "cubic"},
}
# A network in which the client's link is not the bottleneck, so no packets are lost.
ROOMY = {"rate": "1Gbps", "server_rate": "10Mbps", "delay": "25us", "buffer": "1MiB"}


def missing() -> str | None:
    """Return what this machine lacks for a star, or None."""
    machine = Machine.here()
    if machine.tier == 0:
        return machine.why
    if shutil.which("unshare") is None:
        return "the command unshare is missing"
    return available() or None


def apart(command: Sequence[str], **options: float) -> subprocess.CompletedProcess[str]:
    """Run a command in new namespaces; its child processes end with the command."""
    own = ["unshare", "-Urnm", "--pid", "--fork", "--kill-child", "--mount-proc", "--"]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*own, *command], capture_output=True, text=True, check=False, **options
    )


def resolved(servers: int, *, roomy: bool = False) -> Resolved:
    """Return the scenario of a star."""
    network = ROOMY if roomy else SCENARIO["network"]
    workload = {"name": "barrier-read", "servers": servers, "sru": "64KiB"}
    return incast.load(SCENARIO | {"network": network, "workload": workload}).plan.points[0].here


@contextmanager
def built(servers: int, *, roomy: bool = False) -> Iterator[Star]:
    """Build a star whose first host is the client; its switch works until the `with` block ends."""
    here = resolved(servers, roomy=roomy)
    with Star(1 + servers, Stack.of(here), Ends(0, range(1, 1 + servers))) as star:
        with inside(star.switch):
            switch = KernelSwitch(here, star.hosts)
        try:
            yield star
        finally:
            switch.stop()
