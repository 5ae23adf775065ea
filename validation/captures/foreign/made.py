"""A capture and its truth before it is written, from the simulator or the small network."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import incast
from incast import _core
from validation.captures import truth
from validation.captures.foreign import files
from validation.captures.foreign.hosts import Hosts
from validation.captures.foreign.network import Network
from validation.captures.foreign.numbering import Nat, numbered
from validation.captures.foreign.packet import as_ipv6
from validation.captures.foreign.stacks import (
    BEHIND_NAT,
    OUTSIDE,
    PER_CONNECTION,
    PER_HOST,
    VERSION_6,
    Stack,
    drawn,
)
from validation.captures.scenarios import Case, View

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.captures.foreign.packet import Packet
    from validation.captures.scenarios import Document

_CLIENT = truth.address(0)


@dataclass
class Made:
    """Packets at a place, and their truth.

    `found` are the look-alikes that the place shows. `present` are look-alikes that exist but may
    be invisible at the place: the diagnosis need not find them, but must not rule them out.
    `pauses` are the seconds of each wait for a receiver, from the packet that offers less than a
    segment, and `stopped` are the seconds since the receiver stopped reading. With `to_end`, the
    last wait lasts to the end of the capture.
    """

    packets: list[Packet]
    place: str
    servers: int
    source: str
    counted: bool
    """Whether the identifications of a connection are consecutive numbers."""
    quiet: bool
    """Whether nothing was lost, and nothing was sent twice."""
    told: dict[str, Any] = field(default_factory=dict)
    found: list[str] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    stopped: list[float] = field(default_factory=list)
    to_end: bool = False


def simulated(document: Document, place: str, policy: str, random: Random) -> Made:
    """Return the packets of the simulator's hosts, with the numbering of a policy."""
    offload = place != "switch" and random.random() < 0.3
    view = View(place, 160, 1, offload=offload, numbered=policy == PER_CONNECTION)
    case = Case("foreign", "incast", document, (view,))
    point = incast.load(document).plan.points[0]
    pairs = _core.pairs(point.scenario)
    with TemporaryDirectory() as directory:
        path = Path(directory) / "here.pcapng"
        wanted = _core.Capture(path, view.at, view.snaplen, offload=offload)
        events = _core.run(point.scenario, view.seed, ["events"], capture=wanted)["events"]
        told = truth.of(case, view, path, events, pairs)
        packets = every = files.read(path)
        if place != "switch" and policy in (PER_HOST, OUTSIDE, BEHIND_NAT):
            wanted = _core.Capture(path, "switch", view.snaplen, offload=False)
            _core.run(point.scenario, view.seed, [], capture=wanted)
            every = files.read(path)
    packets = numbered(packets, every, policy, _CLIENT, random)
    if policy == VERSION_6:
        _renamed(told, as_ipv6)
    elif policy == BEHIND_NAT and random.random() < 0.5:
        nat = Nat(_CLIENT)
        packets = nat.rewritten(packets)
        _behind(told, nat)
    quiet = not told["drops"] and not told["stalls"]
    counted = policy == PER_CONNECTION
    servers = 1 if place.startswith("server") else told["servers"]
    made = Made(packets, place, servers, "simulator", counted, quiet, told)
    if "queue" in document["network"]:
        name = {"bernoulli": "bad_link", "ecn-threshold": "marked"}
        found = name[document["network"]["queue"]["name"]]
        known = place != "server:0" and (found == "marked" or told["drops"] >= 10)
        (made.found if known else made.present).append(found)
    return made


def _renamed(told: dict[str, Any], name: Callable[[str], str]) -> None:
    for one in told["stalls"] + told["other_waits"]:
        one["server"] = name(one["server"])
        if "client" in one:
            one["client"] = name(one["client"])
    for one in told["episodes"]:
        one["receiver"] = name(one["receiver"])
        one["stalled"] = [name(host) for host in one["stalled"]]


def _behind(told: dict[str, Any], nat: Nat) -> None:
    for one in told["stalls"]:
        if one["ports"]:
            one["ports"] = [nat.port(one["server"], min(one["ports"])), max(one["ports"])]
        one["server"] = nat.address
    for one in told["episodes"]:
        one["stalled"] = [nat.address] * bool(one["stalled"])


def hosted(
    build: Callable[[Hosts], None],
    place: str,
    random: Random,
    *,
    servers: Stack | None = None,
    trip: float | None = None,
    rate: float = 1e9,
) -> Made:
    """Return the packets that the hosts of the small network have sent."""
    network = Network(random, rate=rate, trip=trip or random.choice((1e-4, 1e-3, 1e-2)))
    hosts = Hosts(network, drawn(random), servers or drawn(random))
    build(hosts)
    network.run()
    name = {"client": hosts.reader, "server:0": hosts.server(0)}.get(place, place)
    packets = network.seen[name]
    if hosts.servers.numbering == BEHIND_NAT and random.random() < 0.5:
        packets = Nat(hosts.reader, hosts.named("198.51.100.1")).rewritten(packets)
    ends = [end for pair in hosts.pairs for end in pair]
    counted = {hosts.client.numbering, hosts.servers.numbering} == {PER_CONNECTION}
    quiet = not network.lost.total() and not sum(end.repeats for end in ends)
    seen = {one.source for one in packets} | {one.target for one in packets}
    made = Made(packets, place, len(seen) - 1, "hosts", counted, quiet)
    made.told["lost"] = dict(network.lost)
    made.told["repeats"] = sum(end.repeats for end in ends)
    made.told["timeouts"] = sum(len(end.timeouts) for end in ends)
    for end in ends:
        pauses = list(end.pauses)
        if not end.reading and end.shut is not None:
            pauses += end.pause(packets[-1].time)
            made.to_end = True
        made.pauses += [after - shut for _, shut, after in pauses]
        made.stopped += [after - stopped for stopped, _, after in pauses]
    return made
