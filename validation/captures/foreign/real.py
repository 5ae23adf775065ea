"""Foreign captures of real hosts: a bridge of the kernel, offloads, and network troubles.

The kernel counts the timeouts of each server, but does not record their times and causes.
"""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack
from random import Random
from threading import Timer
from typing import TYPE_CHECKING, Any

from incast.live import counters
from incast.live.namespaces import inside
from validation.captures import kernel
from validation.captures.foreign.bridge import Bridge, Settings, address, place
from validation.captures.truth import FEWEST

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

    from validation.captures.foreign.cases import Foreign

VIEWS = ("client", "switch", "any", "server:0")
FOUND = {
    "slow-servers": "slow_server",
    "outage": "outage",
    "policer": "policer",
    "mtu-black-hole": "mtu_black_hole",
}
# Counts of timeouts are not compared for these kinds. Behind a black hole, dropped packets leave no
# trace; in an outage, retransmitted data may have arrived before.
_UNSEEN = ("mtu-black-hole", "outage")
# The places that show a trouble.
_AT = {
    "slow_server": ("client", "switch", "server:0"),
    "outage": ("client", "switch"),
    "policer": ("client", "switch"),
    "mtu_black_hole": ("server:0",),
}
_COUNTERS = ("TCPTimeouts", "TCPLossProbes", "TCPDSACKRecv", "RetransSegs", "TCPSpuriousRTOs")
_BETWEEN = 0.05
_ROUND_TRIPS = 10
_FRAME = 8 * 1514  # bits


def make(case: Foreign, directory: Path) -> list[Path]:
    """Write the captures of a case at all places, and the truth of each; return their files."""
    random = Random(case.name)
    settings = _settings(case, random)
    sizes = {"policer": (128, 256), "outage": (32, 64), "mtu-black-hole": (16, 64)}
    size = random.choice(sizes.get(case.kind, (16, 32, 64))) * 1024
    bridge = Bridge(settings)
    paths = {view: directory / f"{case.name}-{view.removesuffix(':0')}.pcap" for view in VIEWS}
    snaplen = str(random.choice((96, 128, 256)))
    with ExitStack() as stack:
        for view, path in paths.items():
            host, interface, more = bridge.at(view)
            stack.enter_context(kernel.tcpdump(host, interface, path, "-s", snaplen, *more))
        before = _counted(bridge)
        blocks = _read(case, bridge, size, random)
        time.sleep(0.3)  # wait until tcpdump has read everything, and the last answer has arrived
        total = _grown(before, _counted(bridge))
    kernel.add_idle(blocks, paths["client"], address(0))
    for view, path in paths.items():
        told = {"file": path.name} | _truth(case, settings, view, blocks, total)
        path.with_suffix(".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return list(paths.values())


def _settings(case: Foreign, random: Random) -> Settings:
    lane = case.kind if case.kind in ("policer", "mtu-black-hole") else ""
    rate = random.choice((20, 50, 100, 200)) * 10**6
    return Settings(
        servers=random.choice((8, 12, 16) if case.incast else (3, 4, 6)),
        rate=rate if case.incast else max(rate, 50 * 10**6),
        buffer=random.choice((16, 24, 32)) * 1024 if case.incast else 4 << 20,
        offloaded=case.kind == "offloaded" or (not lane and random.random() < 0.5),
        timestamps=random.random() < 0.5,
        selective=random.random() < 0.8,
        probes=random.random() < 0.5,
        lane=lane,
        lane_rate=random.choice((5, 10, 20)) * 10**6,
        mtu=random.choice((1280, 1400)),
    )


def _read(case: Foreign, bridge: Bridge, size: int, random: Random) -> list[dict[str, Any]]:
    """Read some blocks; return the times of each, and the counts of the servers' kernels."""
    numbers = range(1, bridge.settings.servers + 1)
    late = random.choice((0.18, 0.2, 0.25)) if case.kind == "slow-servers" else 0.0
    for number in numbers:
        kernel.Server(bridge.hosts[number], place(number), size, late).start()
    connections = [_connect(bridge, number) for number in numbers]
    if case.kind == "mtu-black-hole":
        longest, count = 2.0, 2
    else:
        longest, count = 30.0, 25 if case.kind == "outage" else 3
    if case.kind == "outage":
        start, length = random.uniform(0.1, 0.3), random.uniform(0.25, 0.5)
        Timer(start, bridge.cut, kwargs={"off": True}).start()
        Timer(start + length, bridge.cut, kwargs={"off": False}).start()
    blocks = []
    for _ in range(count):
        before, start = _counted(bridge), time.time()
        kernel.fetch(connections, size, 0, longest)
        end = time.time()
        counted = _grown(before, _counted(bridge))
        blocks.append({"start": start, "end": end, "counted": counted})
        time.sleep(0 if case.kind == "outage" else _BETWEEN)
    for one in connections:
        one.close()
    return blocks


def _counted(bridge: Bridge) -> list[Counter[str]]:
    """Return the counters of each server's kernel."""
    return [counters.count([host]) for host in bridge.hosts[1:]]


def _grown(before: list[Counter[str]], after: list[Counter[str]]) -> list[Counter[str]]:
    return [now - then for now, then in zip(after, before, strict=True)]


def _connect(bridge: Bridge, number: int) -> socket.socket:
    with inside(bridge.hosts[0]):
        one = socket.socket()
    one.connect(place(number))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def _truth(
    case: Foreign,
    settings: Settings,
    view: str,
    blocks: list[dict[str, Any]],
    total: list[Counter[str]],
) -> dict[str, Any]:
    place_ = "switch" if view == "any" else view
    again = sum(one["RetransSegs"] for one in total)
    found = FOUND.get(case.kind)
    if found != "slow_server" and not again:
        found = None
    shown = found is not None and place_ in _AT[found]
    episodes = _episodes(case, settings, blocks)
    return {
        "corpus": "foreign",
        "scenario": case.name,
        "family": case.family,
        "kind": case.kind,
        "source": "kernel",
        "vantage": place_,
        "servers": settings.servers,
        "control": not case.incast,
        "proven": bool(episodes),
        "complete": True,
        "quiet": again == 0,
        "episodes": episodes,
        "stalls": [],
        "timeouts": None if case.kind in _UNSEEN else _timeouts(total),
        "counters": {name: sum(one[name] for one in total) for name in _COUNTERS},
        "offloaded": settings.offloaded,
        "snaplen": 0,
        "found": [found] if shown and found else [],
        "present": [found] if found and not shown else [],
        "incomplete": "duplicated" if view == "any" else "",
        "pauses": [],
        "stopped": [],
        "to_end": False,
    }


def _timeouts(total: list[Counter[str]]) -> list[int]:
    """Return the smallest and the largest number of waits for losses that fit the counters.

    The number is not exact, for three reasons. A probe may carry new data. If a probe is lost, the
    timer after it ends the same wait. Retransmitted data may have arrived before (RFC 2883).
    """
    least = [max(one["TCPTimeouts"] - one["TCPDSACKRecv"], 0) for one in total]
    most = [min(one["TCPTimeouts"] + one["TCPLossProbes"], one["RetransSegs"]) for one in total]
    return [sum(least), sum(most)]


def _episodes(
    case: Foreign, settings: Settings, blocks: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the blocks in which a kernel counted a timer and the client's link was idle."""
    if not case.incast or settings.servers < FEWEST:
        return []
    least = _ROUND_TRIPS * max(2e-4, 2 * _FRAME / settings.rate)
    told = []
    for number, block in enumerate(blocks):
        late = [at for at, one in enumerate(block["counted"], 1) if kernel.repairs(one)]
        if late and block["idle"] > least:
            told.append(
                {
                    "block": number,
                    "start": block["start"],
                    "end": block["end"],
                    "receiver": address(0),
                    "fan_in": settings.servers,
                    "stalled": [address(at) for at in late],
                }
            )
    return told
