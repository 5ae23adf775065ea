"""Network namespaces without names, which the kernel removes at the end of the process."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from incast._core import Namespace
from incast.errors import LiveError

SYSCTL = Path("/proc/sys/net")


@contextmanager
def inside(namespace: Namespace) -> Iterator[None]:
    """Move this thread into a namespace, and move it back at the end."""
    home = Namespace.current()
    namespace.enter()
    try:
        yield
    finally:
        home.enter()


def batch(lines: Sequence[str]) -> None:
    """Let one process of `ip` execute all lines in this thread's namespace.

    Raises
    ------
    LiveError
        `ip` is missing, or has refused a line.
    """
    executed("ip", lines)


def executed(tool: str, words: Sequence[str], *, lines: bool = True) -> str:
    """Let `ip` or `tc` execute lines, or one command, in this thread's namespace.

    Raises
    ------
    LiveError
        The tool is missing, or has refused a line or the command.
    """
    path = shutil.which(tool)
    if path is None:
        raise LiveError(f"live: needs the command {tool} (package iproute2)")
    arguments, text = (["-batch", "-"], "\n".join(words)) if lines else (words, "")
    done = subprocess.run(  # noqa: S603 (no argument is a string of a user)
        [path, *arguments], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        what = done.stderr.strip().splitlines() or ["no reason given"]
        raise LiveError(f"live: {tool}: {what[0]}")
    return done.stdout


def sysctl(name: str, value: object) -> None:
    """Set a key below `net` in this thread's namespace, e.g. `ipv4/tcp_sack`.

    Raises
    ------
    LiveError
        The kernel has no such key, or refuses the value.
    """
    try:
        (SYSCTL / name).write_text(f"{value}\n")
    except OSError as error:
        key = f"net.{name.replace('/', '.')}"
        raise LiveError(f"live: {key}: {error.strerror} for {value!r}") from None


def without_ipv6() -> None:
    """Keep the kernel from sending IPv6 packets of its own in this thread's namespace."""
    for which in ("all", "default"):
        with suppress(FileNotFoundError):  # raised by a kernel without IPv6
            (SYSCTL / "ipv6/conf" / which / "disable_ipv6").write_text("1\n")
