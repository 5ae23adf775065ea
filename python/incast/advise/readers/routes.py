"""`ip route` at a server: options of TCP on the route to the client.

Source: ip-route(8), and iproute2's `ip/iproute.c`. A time below one second is printed in ms, a
longer time in s (`10ms`, `1.5s`). A number without a unit is in ms, because `ip route` passes it to
the kernel unchanged, and the kernel's unit of `RTAX_RTO_MIN` is 1 ms.

A dump does not say which route leads to the clients. An option is used if the routes to all
networks have it with the same value, even if the default route does not have it. If the routes
differ, the option is not used. Networks without clients (links, groups and containers) are ignored.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from math import ceil

from incast import units
from incast.advise.readers.taken import Taken, refused
from incast.advise.readers.words import (
    CONTROLS,
    OTHER_CONTROLS,
    decimal,
    shown,
    whole,
)

NAME = "ip route"
_NOT_SENT = {
    *("unreachable", "blackhole", "prohibit", "broadcast", "local", "throw", "multicast"),
    *("anycast", "nat"),
}
_HOW = {"dev", "via"}
_TIME = re.compile(r"([0-9.]{1,20})(ms|msecs?|s|secs?)?")
_NAMED = 3  # maximum number of routes that a sentence names
_FIRST = 20  # one of this many first lines must be a route
_INSIDE = ("docker", "virbr", "veth", "cali", "lxc", "cni", "br-", "lo")
_LONGEST = 120.0  # seconds, the kernel's largest RTO
_COUNTS = {"initcwnd": 65_535, "window": 2**31, "cwnd": 65_535, "quickack": 1}
_OPTIONS = {*_COUNTS, "rto_min", "congctl"}


@dataclass
class Route:
    """A route over which packets are sent.

    Parameters
    ----------
    target
        The network that the route leads to.
    line
        The number of the line in the file.
    device
        The interface.
    metric
        The metric: of several routes to one network, the route with the smallest metric is used.
    options
        The options of TCP.
    """

    target: str
    line: int
    device: str = ""
    metric: int = 0
    options: dict[str, str] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The name of the route in sentences."""
        return f"{shown(self.target)} (line {self.line})"


def recognises(text: str) -> bool:
    """Return whether a file is a dump of routes: one of the first lines must be a route."""
    return any(_is_route(line.split()) for line in text.split("\n", _FIRST)[:_FIRST])


def _is_route(words: list[str]) -> bool:
    if len(words) < 2:  # noqa: PLR2004 (a target, and how to get there)
        return False
    if words[0] in _NOT_SENT | {"unicast"}:
        return _is_target(words[1])
    return (_is_target(words[0]) or words[0] == "nexthop") and not _HOW.isdisjoint(words)


def read(text: str, where: str) -> Taken:
    """Read the routes of a file.

    Raises
    ------
    AdviceError
        A line is not a route, or the value of an option is missing or wrong.
    """
    routes: list[Route] = []
    here: Route | None = None  # the route that an indented line belongs to
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words:
            continue
        if line[0] in " \t":
            options = _options(words, where, number)
            if here is not None:
                here.options |= options
            continue
        is_sent = words[0] not in _NOT_SENT
        if not is_sent or words[0] == "unicast":
            words = words[1:]
        if not words or not _is_target(words[0]):
            raise refused(where, number, f"{line.strip()[:40]!r} is not a route of `ip route`")
        device, metric = _after("dev", words), whole(_after("metric", words), 0, 2**32) or 0
        here = Route(_network(words[0]), number, device, metric, _options(words[1:], where, number))
        if is_sent:
            routes.append(here)
    return _taken(routes)


def _is_target(word: str) -> bool:
    if word == "default":
        return True
    try:
        ipaddress.ip_network(word, strict=False)
    except ValueError:
        return False
    return True


def _network(word: str) -> str:
    """Return a target, or `default` for the network of all addresses."""
    return "default" if word.endswith("/0") else word


def _after(word: str, words: list[str]) -> str:
    """Return the word that follows another word, or an empty string."""
    return words[words.index(word) + 1] if word in words[:-1] else ""


def _options(words: list[str], where: str, number: int) -> dict[str, str]:
    """Return the options of TCP in a line, as scenarios write them."""
    found = {}
    for place, word in enumerate(words):
        if word not in _OPTIONS:
            continue
        rest = [one for one in words[place + 1 : place + 3] if one != "lock"]
        if not rest:
            raise refused(where, number, f"{word} has no value")
        if word == "rto_min":
            found[word] = _time(rest[0], where, number)
        elif word in _COUNTS:
            count = whole(rest[0], 0, _COUNTS[word])
            if count is None:
                raise refused(
                    where,
                    number,
                    f"{word} {rest[0][:40]!r} is not a number from 0 to {_COUNTS[word]}",
                )
            found[word] = str(count)
        elif rest[0] in CONTROLS | OTHER_CONTROLS:
            found[word] = rest[0]
        else:
            known = ", ".join(sorted(CONTROLS))
            raise refused(where, number, f"congctl {rest[0][:40]!r} must be one of {known}")
    return found


def _time(text: str, where: str, number: int) -> str:
    parts = _TIME.fullmatch(text)
    value = decimal(parts[1], 0, 1e6) if parts else None
    if parts is None or value is None:
        raise refused(where, number, f"rto_min {text[:40]!r} is not a time such as 10ms")
    seconds = value if (parts[2] or "ms").startswith("s") else value / 1e3
    if not 0 < seconds <= _LONGEST:
        raise refused(where, number, f"rto_min {text[:40]!r} must be above 0 and at most 120s")
    return f"{ceil(round(seconds * 1e3, 6))}ms"


def _taken(routes: list[Route]) -> Taken:
    taken = Taken()
    best: dict[str, Route] = {}
    for route in routes:
        before = best.get(route.target)
        if before is None or route.metric < before.metric:
            best[route.target] = route
    left = [
        f"{' '.join(f'{key} {value}' for key, value in route.options.items())} on {route.named}"
        for route in best.values()
        if _is_local(route) and route.options
    ]
    chosen = [route for route in best.values() if not _is_local(route)]
    for option in sorted({option for route in chosen for option in route.options}):
        value, having, why = _agreed(chosen, option)
        if why:
            taken.took.append(f"{option} is not used: {why}.")
            continue
        others = [route.named for route in chosen if option not in route.options]
        where = _few([route.named for route in having])
        if others:
            where = f"{where}, but not on {_few(others)}"
        _take(taken, option, value, where)
    if left:
        taken.took.append(f"Options on routes without clients are left out: {_few(left)}.")
    if not any(route.options for route in chosen):
        taken.took.append("No route to clients has an option of TCP.")
    if taken.changes:
        taken.assumed.append(
            "The clients are behind the named routes, and all servers have the same routes."
        )
    return taken


def _few(names: list[str]) -> str:
    """Return the names of the first routes, and the number of the remaining routes."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _is_local(route: Route) -> bool:
    """Return whether a route leads to no client: only to this host, its containers or its link."""
    if route.target == "default":
        return False
    network = ipaddress.ip_network(route.target, strict=False)
    local = network.is_link_local or network.is_loopback or network.is_multicast
    return local or route.device.startswith(_INSIDE)


def _agreed(routes: list[Route], option: str) -> tuple[str, list[Route], str]:
    """Return the value of an option and its routes, or the reason why no value is used."""
    having = [route for route in routes if option in route.options]
    first = having[0]
    value = first.options[option]
    other = next((route for route in having if route.options[option] != value), None)
    if other is not None:
        return (
            "",
            [],
            (f"it is {value} on {first.named} and {other.options[option]} on {other.named}"),
        )
    alike = {route.target == "default" for route in having}
    without = [route for route in routes if option not in route.options]
    between = next(
        (one for one in without if (one.target == "default") in alike or True in alike), None
    )
    if between is not None:
        return "", [], f"it is {value} on {first.named}, and {between.named} has none"
    return value, having, ""


def _take(taken: Taken, option: str, value: str, where: str) -> None:
    """Take an option into the scenario, and name the routes that have it."""
    if option == "rto_min":
        said = units.time(float(value.removesuffix("ms")) / 1e3)
        taken.take(
            f"rto_min {said} on {where}; it overrides the setting of the kernel there.",
            transport__rto_min=value,
        )
    elif option == "initcwnd" and value != "0":
        taken.take(f"initcwnd {value} on {where}.", transport__initial_window=f"{value}seg")
    elif option == "window":
        taken.took.append(
            f"window on {where} is left out, because it limits what this host receives."
        )
    elif option == "cwnd" and value != "0":
        taken.take(f"cwnd {value} on {where}.", transport__receive_window=f"{value}seg")
    elif option == "quickack" and value == "1":
        taken.take(f"Quick ACKs on {where}.", transport__delayed_ack=False)
    elif option == "congctl" and value in OTHER_CONTROLS:
        taken.took.append(
            f"Congestion control {value} on {where} is not simulated, so it is left out."
        )
    elif option == "congctl":
        taken.take(f"Congestion control {value} on {where}.", transport__congestion_control=value)
