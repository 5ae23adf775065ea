"""Hosts and a switch like a user's, with plain routes, kernel defaults and a config_db.json."""

from __future__ import annotations

import subprocess
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from incast.live.namespaces import inside
from incast.live.stack import MOST_MSS, Stack

if TYPE_CHECKING:
    from incast._core import Namespace

_ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
_FIRST_WINDOW, _RTO_MIN, _TIMESTAMPS = 10, 0.2, 12  # Linux: segments, seconds, option bytes
# The state of a host that a fix may change: routes, queues, and the kernel's variables.
STATE = """
ip -d route show table all
tc -d qdisc show
sysctl -a --pattern '^net[.](ipv4|core)[.]' 2> /dev/null
"""


def allowed() -> tuple[str, ...]:
    """Return the congestion controls that `sysctl` can set in a namespace."""
    return tuple(_ALLOWED.read_text().split())


@dataclass(frozen=True)
class Plain(Stack):
    """Settings that use kernel variables where possible, so that routes are like a user's routes.

    The hosts of `incast live` have every option on their route. With such a route, a variable such
    as `tcp_congestion_control` would change nothing.
    """

    @cached_property
    def sysctls(self) -> dict[str, object]:
        """The keys below `net.ipv4`, with their values."""
        keys = super().sysctls | {"tcp_no_metrics_save": 0}
        if self.control in allowed():
            keys["tcp_congestion_control"] = self.control
        return keys

    @cached_property
    def route(self) -> str:
        """The options of the route; settings at the kernel's default need no option."""
        options = []
        if self.control not in allowed():
            options.append(f"congctl {self.control}")
        if self.initial_window != _FIRST_WINDOW:
            options.append(f"initcwnd {self.initial_window}")
        if self.rto_min != _RTO_MIN:
            options.append(f"rto_min {round(self.rto_min * 1e3)}ms")
        if self.mss + _TIMESTAMPS * self.timestamps != MOST_MSS:
            options.append(f"advmss {self.mss + _TIMESTAMPS * self.timestamps}")
        if not self.delayed_ack:
            options.append("quickack 1")
        return " ".join(options)


class WordsError(Exception):
    """A command failed; the message is its output."""


class Shell:
    """A shell that stays open, so that commands can use the variables that earlier commands set.

    Parameters
    ----------
    namespace
        Namespace of the shell's network; None for the namespace of this thread.
    prelude
        Commands that the shell executes first.
    folder
        Working folder of the shell.
    """

    def __init__(
        self, namespace: Namespace | None = None, prelude: str = "", folder: Path | None = None
    ) -> None:
        with inside(namespace) if namespace is not None else nullcontext():
            self._process = subprocess.Popen(
                ["sh", "-e"],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.tell(prelude)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:  # closes the pipes of the process
            self._process.kill()

    def tell(self, words: str) -> str:
        """Execute commands in the shell; return their output.

        Raises
        ------
        WordsError
            A command failed.
        """
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        into.write(f"{words}\necho {_MARK}\n")
        into.flush()
        said = []
        for line in out:
            if line == f"{_MARK}\n":
                return "".join(said)
            said.append(line)
        assert self._process.stderr is not None
        raise WordsError(self._process.stderr.read().strip() or "the shell ended")


_MARK = "=====done====="


def database(here: Any) -> dict[str, dict[str, dict[str, str]]]:  # noqa: ANN401 (Resolved)
    """Return the config_db.json of a switch with the buffer and the rate of a scenario."""
    pool = {"type": "egress", "mode": "static"}
    profile = {"pool": "egress_lossy_pool", "size": "0"}
    if here.dynamic is None:
        pool["size"] = str(16 * here.buffer_bytes)
        profile["static_th"] = str(here.buffer_bytes)
    else:
        total, alpha = here.dynamic
        exponent = (
            round(alpha).bit_length() - 1 if alpha >= 1 else 1 - round(1 / alpha).bit_length()
        )
        pool |= {"mode": "dynamic", "size": str(total)}
        profile["dynamic_th"] = str(exponent)
    return {
        "PORT": {"Ethernet0": {"speed": str(round(here.line_rate / 1e6))}},
        "BUFFER_POOL": {"egress_lossy_pool": pool},
        "BUFFER_PROFILE": {"egress_lossy_profile": profile},
    }
