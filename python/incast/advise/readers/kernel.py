"""`sysctl -a`: the kernel's settings of TCP.

Source: the kernel's ip-sysctl documentation. Keys that are not settings of TCP are ignored.
"""

import re

from incast import units
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import CONTROLS, OTHER_CONTROLS, shown, whole

NAME = "sysctl"
_KEY = re.compile(r"-?[A-Za-z0-9_./*:@+-]+")
_PASSED = ("#", ";", "sysctl:")  # lines to ignore: comments, and the command's error messages
_LONGEST_US = 120_000_000  # the kernel's largest RTO
_MOST_MEMORY = 2**31 - 1  # settings of memory are signed 32-bit numbers
_LEAST_WINDOW = 2920  # bytes: two full packets


def recognises(text: str) -> bool:
    """Return whether a file is a dump of settings."""
    return any(
        key.strip().lstrip("-").startswith(("net.", "net/"))
        and equals
        and _KEY.fullmatch(key.strip())
        for key, equals, _ in (line.partition("=") for line in text.split("\n"))
    )


def read(text: str, where: str) -> Taken:
    """Read the settings of a file.

    Raises
    ------
    AdviceError
        A line is not `key = value`, or a setting of TCP has an unknown value.
    """
    found: dict[str, Taken] = {}  # if a key occurs twice, the last value applies
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith(_PASSED):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not equals or not _KEY.fullmatch(name):
            raise refused(where, number, f"{line.strip()[:40]!r} is not key = value")
        key = name.removeprefix("-").replace("/", ".")
        if key in _TAKEN:
            found[key] = Taken()
            why = _TAKEN[key](found[key], value)
            if why:
                raise refused(where, number, f"{key} = {shown(value)}: {why}")
    taken = Taken()
    for one in found.values():
        taken.changes |= one.changes
        taken.took += one.took
        taken.assumed += one.assumed
    if not taken.took:
        taken.took.append("No setting in the file corresponds to a key of a scenario.")
    taken.assumed.append("Clients and servers have the same settings.")
    return taken


def _control(taken: Taken, value: str) -> str:
    if value in OTHER_CONTROLS:
        taken.took.append(f"Congestion control {value}, which is not simulated, is left out.")
        return ""
    if value not in CONTROLS:
        return f"must be one of {', '.join(sorted(CONTROLS))}"
    taken.take(f"Congestion control {value}.", transport__congestion_control=value)
    return ""


def _sack(taken: Taken, value: str) -> str:
    if value not in {"0", "1"}:
        return "must be 0 or 1"
    if value == "0":
        taken.take("SACK is off.", transport__recovery="newreno", transport__sack=False)
    else:
        taken.took.append("SACK is on.")
    return ""


def _least(taken: Taken, value: str) -> str:
    least = whole(value, 1, _LONGEST_US)
    if least is None:
        return f"must be a number of microseconds from 1 to {_LONGEST_US}"
    if least != 200_000:  # noqa: PLR2004 (the default)
        taken.take(f"rto_min {units.time(least / 1e6)}.", transport__rto_min=f"{least}us")
    else:
        taken.took.append("rto_min 200 ms, the default.")
    return ""


def _idle(taken: Taken, value: str) -> str:
    if value not in {"0", "1"}:
        return "must be 0 or 1"
    restart = "2861" if value == "1" else "none"
    taken.take(
        f"Slow start after idle is {'on' if value == '1' else 'off'}.",
        transport__idle_restart=restart,
    )
    return ""


def _ecn(taken: Taken, value: str) -> str:
    if value not in {"0", "1", "2", "3", "4", "5"}:
        return "must be 0 to 5"
    if value == "1":
        taken.take("ECN is requested.", transport__ecn="on")
    else:
        taken.took.append("ECN is not requested.")
    return ""


def _memory(taken: Taken, value: str) -> str:
    sizes = [whole(one, 0, _MOST_MEMORY) for one in value.split()]
    if len(sizes) != 3 or sizes[2] is None or None in sizes:  # noqa: PLR2004 (as documented)
        return f"must be three sizes from 0 to {_MOST_MEMORY} bytes"
    taken.take(
        f"Receive buffers have up to {units.size(sizes[2])}.",
        transport__receive_window=f"{max(sizes[2] // 2, _LEAST_WINDOW)}B",
    )
    taken.assumed.append("Half of a receive buffer is used as window (tcp_adv_win_scale = 1).")
    return ""


_TAKEN = {
    "net.ipv4.tcp_congestion_control": _control,
    "net.ipv4.tcp_sack": _sack,
    "net.ipv4.tcp_rto_min_us": _least,
    "net.ipv4.tcp_slow_start_after_idle": _idle,
    "net.ipv4.tcp_ecn": _ecn,
    "net.ipv4.tcp_rmem": _memory,
}
