"""The scenarios of the corpus, with their documents, families, and captures.

The parameters of a scenario are random; the seed is the scenario's name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Document = dict[str, Any]

PROFILES = ("lab", "rfc", "linux", "linux-dctcp", "ns2", "ns3")
TRANSPORTS = {
    "lab": ("newreno", "reno", "sack", "tahoe", "cubic"),
    "rfc": ("newreno", "sack"),
    "linux": ("cubic", "newreno"),
    "linux-dctcp": ("dctcp",),
    "ns2": ("newreno", "sack"),
    "ns3": ("newreno", "sack"),
}
SERVERS = (4, 8, 12, 16, 24, 32, 48, 64)
SNAPLENS = (64, 96, 128, 256, 1600)


@dataclass(frozen=True)
class View:
    """A capture: its place, and the parts of packets that it keeps."""

    at: str
    snaplen: int
    seed: int
    offload: bool = False
    numbered: bool = True
    """Whether IP packets keep their identifications. If not, the identifications are 0, as with
    some stacks."""


@dataclass(frozen=True)
class Case:
    """A scenario of the corpus.

    Parameters
    ----------
    name
        The family, the name of the draw (empty for the first draw), and a number.
    family
        `incast`, `healthy`, or the name of the look-alike.
    document
        The scenario; for real hosts, the parameters of the reads.
    views
        The captures of the scenario.
    lost
        Share of the frames that the capture itself drops.
    kernel
        Whether real hosts make the captures.
    """

    name: str
    family: str
    document: Document
    views: tuple[View, ...]
    lost: float = 0.0
    kernel: bool = field(default=False)


def _network(random: Random, **more: Any) -> Document:
    return {"rate": "1Gbps", "delay": random.choice(("10us", "25us", "50us")), **more}


def _read(servers: int, sru: str, blocks: int, **more: Any) -> Document:
    return {"name": "barrier-read", "servers": servers, "sru": sru, "blocks": blocks, **more}


def _document(profile: str, network: Document, workload: Document, transport: Document) -> Document:
    return {
        "profile": profile,
        "network": network,
        "workload": workload,
        "transport": transport,
        "run": {"seeds": [1], "time_limit": "60s"},
    }


def _incast(number: int, random: Random) -> Document:
    profile = PROFILES[number % len(PROFILES)]
    servers = SERVERS[number % len(SERVERS)]
    network = _network(random, buffer=random.choice(("16KiB", "32KiB", "64KiB", "100KiB")))
    workload = _read(
        servers,
        random.choice(("16KiB", "32KiB", "64KiB")),
        random.choice((2, 3, 4)),
        connections=random.choice(("fresh", "persistent")),
        request_jitter=random.choice(("0s", "5us", "20us")),
    )
    transport = {"name": random.choice(TRANSPORTS[profile])}
    if random.random() < 0.3:
        transport["rto_min"] = random.choice(("10ms", "50ms", "1s"))
    return _document(profile, network, workload, transport)


def _healthy(number: int, random: Random) -> Document:
    profile = PROFILES[number % len(PROFILES)]
    network = _network(random, buffer="16MiB")
    workload = _read(
        random.choice((1, 2, 4, 8, 16, 32, 64)),
        random.choice(("16KiB", "64KiB")),
        random.choice((2, 4)),
        connections=random.choice(("fresh", "persistent")),
    )
    return _document(profile, network, workload, {"name": random.choice(TRANSPORTS[profile])})


def _few_flows(number: int, random: Random) -> Document:
    network = _network(random, buffer=random.choice(("16KiB", "32KiB")))
    workload = _read(1 + number % 2, "512KiB", random.choice((2, 3)), connections="persistent")
    transport = {"name": random.choice(TRANSPORTS["lab"]), "receive_window": "256KiB"}
    return _document("lab", network, workload, transport)


def _window_limited(number: int, random: Random) -> Document:
    profile = ("lab", "linux", "rfc")[number % 3]
    network = _network(random, buffer="16MiB") | {"delay": random.choice(("250us", "1ms"))}
    workload = _read(random.choice((1, 2, 4, 8)), "128KiB", 2, connections="persistent")
    window = random.choice(("6KiB", "8KiB", "12KiB"))
    return _document(profile, network, workload, {"receive_window": window})


def _bad_optic(number: int, random: Random) -> Document:
    profile = ("lab", "linux", "rfc")[number % 3]
    loss = random.choice((0.003, 0.01, 0.02))
    network = _network(
        random, buffer="16MiB", queue={"name": "bernoulli", "p": loss, "data_only": True}
    )
    workload = _read(random.choice((1, 2, 4, 8, 16)), "64KiB", 4, connections="persistent")
    return _document(profile, network, workload, {"receive_window": "32KiB"})


def _path(number: int, random: Random) -> Document:
    profile = ("lab", "linux", "rfc")[number % 3]
    network = _network(
        random,
        topology={"name": "two-tier", "racks": 2},
        buffer="16MiB",
        core={"queue": {"name": "bernoulli", "p": random.choice((0.02, 0.05)), "data_only": True}},
    )
    workload = _read(
        random.choice((4, 8, 16)), "64KiB", 4, connections="persistent", servers_at=[0, 1]
    )
    return _document(profile, network, workload, {"receive_window": "32KiB"})


def _delayed_ack(number: int, random: Random) -> Document:
    network = _network(random, buffer="16MiB")
    workload = _read(random.choice((1, 2, 4, 8)), "32KiB", 3, connections="fresh")
    timeout = ("40ms", "200ms")[number % 2]
    transport = {
        "name": "newreno",
        "initial_window": 1,
        "rto_min": "1s",
        "delayed_ack": {"segments": 2, "timeout": timeout, "quickack": 0},
    }
    return _document("lab", network, workload, transport)


def _one_by_one(number: int, random: Random) -> Document:
    profile = ("lab", "linux", "rfc")[number % 3]
    network = _network(random, buffer="1MiB")
    workload = _read(random.choice((4, 8, 16)), random.choice(("4KiB", "16KiB")), 24, active=1) | {
        "connections": "persistent"
    }
    return _document(profile, network, workload, {})


_OFFSETS = {
    "": 0,
    "second-": 5,
    "third-": 11,
    "fourth-": 17,
    "fifth-": 23,
    "sixth-": 37,
    "seventh-": 43,
    "eighth-": 53,
    "ninth-": 61,
    "tenth-": 71,
    "eleventh-": 83,
    "twelfth-": 97,
    "thirteenth-": 113,
    "fourteenth-": 127,
    "fifteenth-": 139,
    "sixteenth-": 149,
}
"""The draws, with an offset that is added to the numbers of each draw's scenarios.

Each draw was made after the rules had been judged by the previous draw."""
NEWEST = next(reversed(_OFFSETS))

_MADE = {  # for each family, the numbers of scenarios in the first draws, and in each later draw
    "incast": ((60, 40, 40, 80, 80), 120, _incast),
    "healthy": ((14, 10, 10, 10, 10), 16, _healthy),
    "few-flows": ((6, 4, 4, 4, 4), 8, _few_flows),
    "window-limited": ((10, 8, 8, 8, 8), 12, _window_limited),
    "bad-optic": ((12, 9, 9, 9, 9), 16, _bad_optic),
    "path": ((9, 7, 7, 7, 7), 12, _path),
    "delayed-ack": ((8, 6, 6, 6, 6), 10, _delayed_ack),
    "one-by-one": ((8, 6, 6, 6, 6), 10, _one_by_one),
    "capture-drops": ((10, 8, 8, 8, 8), 12, _healthy),
}

_KERNEL = {  # for each family, the number of scenarios per draw
    "incast": 8,
    "healthy": 4,
    "slow-server": 8,
    "zero-window": 8,
    "window-limited": 4,
    "one-by-one": 4,
}


def _drawn(first: Iterable[int], later: int) -> Iterator[tuple[str, int]]:
    """Yield the end of each scenario's name, and its number plus the offset of the draw."""
    counts = chain(first, repeat(later))
    for (draw, offset), count in zip(_OFFSETS.items(), counts, strict=False):
        for number in range(count):
            yield f"{draw}{number:02}", number + offset


def _views(document: Document, number: int, random: Random) -> tuple[View, ...]:
    """Return four captures: one at each of three places, and one at the client with a new seed."""
    servers = int(document["workload"]["servers"])
    snaplen = [random.choice(SNAPLENS[:-1]) for _ in range(4)]
    if number % 8 == 0:
        snaplen[0] = SNAPLENS[-1]
    return (
        View("client", snaplen[0], 1),
        View("switch", snaplen[1], 1, numbered=number % 5 != 0),
        View(f"server:{random.randrange(servers)}", snaplen[2], 1, offload=number % 3 == 1),
        View("client", snaplen[3], 2, offload=number % 2 == 1, numbered=number % 4 < 2),
    )


def simulated() -> list[Case]:
    """Return the scenarios for the simulator."""
    cases = []
    for family, (first, later, make) in _MADE.items():
        for end, number in _drawn(first, later):
            name = f"{family}-{end}"
            random = Random(name)
            document = make(number, random)
            lost = random.choice((0.01, 0.03, 0.1)) if family == "capture-drops" else 0.0
            if number % 3 == 2 and document["profile"] in ("lab", "linux"):
                document["transport"]["segmentation_offload"] = "64KiB"
            views = _views(document, number, random)
            cases.append(Case(name, family, document, views, lost))
    return cases


def on_kernel() -> list[Case]:
    """Return the scenarios for real hosts in a star of 100 Mbit/s."""
    cases = []
    for family, count in _KERNEL.items():
        for end, _ in _drawn((), count):
            name = f"kernel-{family}-{end}"
            random = Random(name)
            document = {
                "servers": random.choice((8, 16, 24) if family == "incast" else (1, 2, 4, 8)),
                "sru": random.choice((16, 32, 64)) * 1024,
                "blocks": 3,
                "buffer": "16KiB" if family == "incast" else "4MiB",
                "pause": random.choice((0.05, 0.2, 0.5)),
                "timestamps": random.random() < 0.5,
            }
            views = tuple(
                View(at, random.choice((64, 96, 128)), 1) for at in ("client", "switch", "server:0")
            )
            cases.append(Case(name, family, document, views, kernel=True))
    return cases


def all_cases() -> list[Case]:
    """Return every scenario of the corpus."""
    return simulated() + on_kernel()
