"""`ip route` at a server: options of TCP on the route to the client.

Source: ip-route(8). Options of one route count; a dump in which two routes differ is refused.
"""

import ipaddress
import re

from incast.advise.readers.taken import Taken, refused

NAME = "ip route"
_KINDS = {"unreachable", "blackhole", "prohibit", "broadcast", "local", "throw", "multicast"}
_TIME = re.compile(r"\d+(ms|s)?")


def recognises(text: str) -> bool:
    """Return whether a text is a dump of routes."""
    return bool(re.search(r"^(default|[\d.]+(/\d+)?|[0-9a-f:]+/\d+) .*\b(dev|via)\b", text, re.M))


def read(text: str, where: str) -> Taken:
    """Read it.

    Raises
    ------
    AdviceError
        A line is no route, an option has no value, or two routes differ.
    """
    found: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] in _KINDS:
            words = words[1:]
        if line[0].isspace() and words[0] == "nexthop":
            continue
        if not words or not _is_target(words[0]):
            raise refused(where, number, f"{line.strip()[:40]!r} is not a route of `ip route`")
        for option, value in _options(words[1:], where, number).items():
            if option in found and found[option][0] != value:
                before = found[option][1]
                raise refused(
                    where, number, f"{option} {value} differs from line {before}; keep one route"
                )
            found[option] = (value, number)
    return _taken({option: value for option, (value, _) in found.items()})


def _is_target(word: str) -> bool:
    if word == "default":
        return True
    try:
        ipaddress.ip_network(word, strict=False)
    except ValueError:
        return False
    return True


def _options(words: list[str], where: str, number: int) -> dict[str, str]:
    found = {}
    for place, word in enumerate(words):
        if word in {"rto_min", "initcwnd", "window", "quickack", "congctl", "cwnd"}:
            rest = [one for one in words[place + 1 : place + 3] if one != "lock"]
            if not rest:
                raise refused(where, number, f"{word} has no value")
            if word == "rto_min" and not _TIME.fullmatch(rest[0]):
                raise refused(where, number, f"rto_min {rest[0]!r} is not a time such as 10ms")
            if word in {"initcwnd", "window", "cwnd", "quickack"} and not rest[0].isdigit():
                raise refused(where, number, f"{word} {rest[0]!r} is not a number")
            found[word] = rest[0]
    return found


def _taken(found: dict[str, str]) -> Taken:
    taken = Taken()
    if "rto_min" in found:
        value = found["rto_min"]
        text = f"{value}ms" if value.isdigit() else value
        taken.take(f"rto_min {text} on the route, which wins.", transport__rto_min=text)
    if "initcwnd" in found:
        taken.take(
            f"initcwnd {found['initcwnd']}.", transport__initial_window=f"{found['initcwnd']}seg"
        )
    if "window" in found:
        taken.took.append("window is left out: it is about what this host receives.")
    if "cwnd" in found:
        taken.take(f"cwnd {found['cwnd']}.", transport__receive_window=f"{found['cwnd']}seg")
    if found.get("quickack") == "1":
        taken.take("Quick ACKs.", transport__delayed_ack=False)
    if "congctl" in found:
        taken.take(
            f"Congestion control {found['congctl']}.",
            transport__congestion_control=found["congctl"],
        )
    if not found:
        taken.took.append("No route has an option of TCP.")
    taken.assumed.append("The same options count at all servers.")
    return taken
