"""`sysctl -a`: the kernel's settings of TCP.

Source: the kernel's ip-sysctl documentation. Keys that are not settings of TCP are passed over.
"""

import re

from incast.advise.readers.taken import Taken, refused

NAME = "sysctl"
_LINE = re.compile(r"([\w./-]+)\s*=\s*(.*)")
_CONTROLS = {"cubic", "reno", "dctcp", "bbr", "vegas", "westwood", "bic"}


def recognises(text: str) -> bool:
    """Return whether a text is a dump of settings."""
    return bool(re.search(r"^net\.\S+\s*=", text, re.MULTILINE))


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        A line is not `key = value`, or a setting of TCP has a value that is not known.
    """
    taken = Taken()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(("#", ";", "sysctl:")):
            continue
        pair = _LINE.fullmatch(line.strip())
        if pair is None:
            raise refused(where, number, f"{line.strip()[:40]!r} is not key = value")
        key, value = pair[1].replace("/", "."), pair[2].strip()
        if key in _TAKEN:
            why = _TAKEN[key](taken, value)
            if why:
                raise refused(where, number, f"{key} = {value}: {why}")
    if not taken.took:
        taken.took.append("No setting of TCP that counts here.")
    taken.assumed.append("Clients and servers have the same settings.")
    return taken


def _control(taken: Taken, value: str) -> str:
    if value not in _CONTROLS:
        return f"must be one of {', '.join(sorted(_CONTROLS))}"
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
    if not value.isdigit() or int(value) < 1:
        return "must be a number of microseconds"
    if int(value) != 200_000:  # noqa: PLR2004 (the default)
        taken.take(f"rto_min {value} us.", transport__rto_min=f"{value}us")
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
        taken.take("ECN is asked for.", transport__ecn="on")
    else:
        taken.took.append("ECN is not asked for.")
    return ""


def _memory(taken: Taken, value: str) -> str:
    sizes = value.split()
    if len(sizes) != 3 or not all(one.isdigit() for one in sizes):  # noqa: PLR2004 (as documented)
        return "must be three sizes"
    taken.take(
        f"Receive buffers up to {sizes[2]} bytes.",
        transport__receive_window=f"{max(int(sizes[2]) // 2, 2920)}B",
    )
    taken.assumed.append("Half of a receive buffer is window (tcp_adv_win_scale = 1).")
    return ""


_TAKEN = {
    "net.ipv4.tcp_congestion_control": _control,
    "net.ipv4.tcp_sack": _sack,
    "net.ipv4.tcp_rto_min_us": _least,
    "net.ipv4.tcp_slow_start_after_idle": _idle,
    "net.ipv4.tcp_ecn": _ecn,
    "net.ipv4.tcp_rmem": _memory,
}
