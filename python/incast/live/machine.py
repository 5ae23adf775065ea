"""The abilities of this machine: its rights, its kernel, its tools."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from incast.errors import LiveError

_CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_REENTERED = "INCAST_LIVE_REENTERED"
_LEAST_KERNEL = (5, 11)  # epoll_pwait2
_ONLY_RACK = (6, 17)  # since this release, tcp_recovery = 0 has no effect (Linux 1c120191dcec)


@dataclass(frozen=True)
class Machine:
    """The abilities that `incast live` needs from a machine.

    Parameters
    ----------
    tier
        0 without namespaces, 1 with the namespaces of a user, 2 with the namespaces of root.
    why
        The reason why namespaces are missing, if the tier is 0.
    controls
        The congestion controls of the kernel.
    recoveries
        The loss recoveries of the kernel, and whether each needs SACK.
    """

    tier: int
    why: str
    controls: tuple[str, ...]
    recoveries: Mapping[str, bool]

    @classmethod
    def here(cls) -> Self:
        """Find the abilities of this machine."""
        why = _missing()
        tier = 0 if why else 1 if _is_user() else 2
        controls = tuple(_CONTROLS.read_text().split()) if _CONTROLS.exists() else ()
        recoveries = {"rack-tlp": True, "newreno": False}
        if _kernel() < _ONLY_RACK:
            recoveries["sack"] = True
        return cls(tier, why, controls, recoveries)

    def check(self) -> None:
        """Refuse a machine without namespaces.

        Raises
        ------
        LiveError
            The machine has no namespaces; the message says why.
        """
        if self.tier == 0:
            raise LiveError(f"live: needs network namespaces of Linux: {self.why}")

    @cached_property
    def lines(self) -> list[str]:
        """A description of the machine that needs no measurement."""
        told = {
            0: f"T0: no namespaces: {self.why}",
            1: "T1: namespaces of a user, without root: no real-time priority for the switch",
            2: "T2: namespaces of root: the switch has a real-time priority",
        }
        controls = ", ".join(self.controls) or "unknown"
        return [
            told[self.tier],
            f"kernel {platform.release()}, {os.cpu_count()} processors, ticks of {_tick()}",
            f"congestion controls: {controls}",
        ]


_OWN = ("--user", "--map-root-user", "--net", "--mount")


def reenter() -> None:
    """Without root rights, start this command again as root of a new user namespace.

    A command that runs as root in a user namespace is also started again if the user namespace does
    not own the network, because the command could leave that network, but not return to it. If no
    namespace can be created, do nothing; `Machine.here` then gives the reason.
    """
    if sys.platform != "linux" or os.environ.get(_REENTERED):
        return
    if os.geteuid() == 0 and not _refusal():
        return
    unshare = shutil.which("unshare")
    if unshare is None:
        return
    probe = subprocess.run(  # noqa: S603 (only constants)
        [unshare, *_OWN, "true"], capture_output=True, check=False
    )
    if probe.returncode != 0:
        return
    words = [sys.executable, "-m", "incast", *sys.argv[1:]]
    os.environ[_REENTERED] = "1"
    sys.stdout.flush()
    os.execvp(unshare, [unshare, *_OWN, *words])  # noqa: S606 (no shell is needed)


def _is_user() -> bool:
    """Return whether the root of this user namespace is an ordinary user outside of it."""
    return Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]


def _missing() -> str:
    """Return the reason why there are no namespaces; an empty string if there are namespaces."""
    if sys.platform != "linux":
        return f"this is {sys.platform}"
    if _kernel() < _LEAST_KERNEL:
        return f"kernel {platform.release()} is older than 5.11"
    if shutil.which("ip") is None:
        return "the command ip (package iproute2) is missing"
    if why := _refusal():
        return f"this user may not create namespaces ({why})"
    return ""


def _refusal() -> str:
    """Enter a new network namespace; return the kernel's error, or an empty string."""
    from incast._core import Namespace
    from incast.live.namespaces import inside

    try:
        with inside(Namespace()):
            pass
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _kernel() -> tuple[int, ...]:
    """Return the first two numbers of the kernel's release."""
    release = platform.release().split(".")
    return tuple(int("".join(filter(str.isdigit, part)) or 0) for part in release[:2])


def _tick() -> str:
    """Return the length of the kernel's tick: the resolution of its retransmission timers."""
    config = Path(f"/boot/config-{platform.release()}")
    texts = [config.read_text()] if config.exists() else []
    packed = Path("/proc/config.gz")
    if packed.exists():
        import gzip

        texts.append(gzip.decompress(packed.read_bytes()).decode())
    for text in texts:
        for line in text.splitlines():
            if line.startswith("CONFIG_HZ="):
                return f"{1e3 / int(line.removeprefix('CONFIG_HZ=')):g} ms"
    return "unknown length"
