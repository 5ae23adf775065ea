"""What the chains know of a scenario, in packets and packet times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import ceil, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incast.models.numbers import Floats, floats
from incast.models.registry import Question
from incast.scenario.resolved import Resolved

MOST_SERVERS = 1024
"""Servers up to which it has been tried."""

_HARMLESS = {"fine-rto"}


@dataclass(frozen=True)
class Reads:
    """Reads over persistent connections, one element per scenario.

    Parameters
    ----------
    servers
        N, at least 1.
    segments
        S, packets of the SRU, the last of which may be short.
    places
        B, full packets that wait in front of the client's link at most; may be a fraction.
    pipe
        Packets that the idle path holds: its round trip over the time of one packet.
    gap
        Mean time between two requests, packet times.
    packet_s
        Time of one full packet on a link, s; all links have one rate.
    payload
        Application bytes of a full packet over its bytes.
    rto_min, syn_rto
        Seconds.
    blocks
        Blocks of a run; the windows of the first are the handshake's.
    initial_window, most_window
        Segments; the receiver's window is the most.
    spare
        Bare headers that fit into what full packets leave of the buffer; NaN where it counts
        packets, so that a header takes a place.
    to_full
        Bare headers in a full packet.
    short_tail
        Whether a full buffer has no place for the last, shorter packet either.
    """

    servers: Floats
    segments: Floats
    places: Floats
    pipe: Floats
    gap: Floats
    packet_s: Floats
    payload: Floats
    rto_min: Floats
    syn_rto: Floats
    blocks: Floats
    initial_window: Floats
    most_window: Floats
    spare: Floats
    to_full: Floats
    short_tail: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.servers)

    def take(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> "Reads":
        """Return some of the reads."""
        return Reads(*(getattr(self, field.name)[index] for field in fields(self)))

    def with_servers(self, servers: Sequence[int]) -> "Reads":
        """Return every read with every number of servers, read by read."""
        each = self.take(np.repeat(np.arange(len(self)), len(servers)))
        values = {field.name: getattr(each, field.name) for field in fields(self)}
        return Reads(**values | {"servers": np.tile(floats(servers), len(self))})

    @property
    def sparse(self) -> NDArray[np.bool_]:
        """Whether requests come more slowly than the link serves them."""
        return self.segments < self.gap

    @property
    def lossless_s(self) -> Floats:
        """Mean seconds of a block in which nothing is lost.

        The link's or the requests' time, whichever is longer, and a round trip; the first block
        starts slowly besides.
        """
        work = self.servers * self.segments
        asking = (self.servers - 1) * self.gap + self.segments
        rounds = np.log2(np.maximum(self.segments / self.initial_window, 1.0))
        first = np.where(work > asking, np.maximum(rounds * self.pipe - work, 0.0), 0.0)
        first = np.where(work <= asking, rounds * self.pipe, first)
        return (np.maximum(work, asking) + self.pipe + first / self.blocks) * self.packet_s

    @property
    def payload_bits(self) -> Floats:
        """Application bits of a block."""
        return self.servers * self.segments * self.payload * 8


def read(questions: Sequence[Question]) -> Reads:
    """Take the quantities of scenarios to which `refusal` has no objection."""
    rows = np.array([_row(question.point) for question in questions])
    *numbers, short = rows.reshape(len(questions), len(fields(Reads))).T
    arrays: list[Any] = [*(floats(column) for column in numbers), short.astype(np.bool_)]
    return Reads(*arrays)


def _row(point: Resolved) -> tuple[float, ...]:
    transport, network = point.tree["transport"], point.tree["network"]
    packet_s = point.packet * 8 / point.line_rate
    last = point.sru % point.mss
    header = point.packet - point.mss
    segments = ceil(point.sru / point.mss)
    round_trip = 2 * (_seconds(network["server_delay"]) + _seconds(network["delay"]))
    places = float(point.buffer_packets)
    short, spare = False, nan
    if not point.counts_packets:
        places = point.buffer_bytes / point.packet
        spare = point.buffer_bytes % point.packet / header
        short = bool(last and last + header > point.buffer_bytes % point.packet)
    return (
        float(point.servers),
        float(segments),
        places,
        round_trip / packet_s + 2,
        _seconds(point.tree["workload"]["request_jitter"]) / 2 / packet_s,
        packet_s,
        point.sru / segments,
        point.rto_min,
        _seconds(transport["syn_rto"]),
        float(point.tree["workload"]["blocks"]),
        float(point.window(1) // point.servers),
        float(point.receive_window),
        spare,
        point.packet / header,
        short,
    )


def refusal(question: Question) -> str | None:
    """Return why the chains know nothing of a scenario, or None."""
    point = question.point
    return next((why for fits, why in _conditions(point) if not fits), None)


def _conditions(point: Resolved) -> Iterator[tuple[bool, str]]:
    """Yield what must hold, and what to say where it does not."""
    network, transport = point.tree["network"], point.tree["transport"]
    topology, queue = point.topology, network["queue"]["name"]
    yield topology == "star", f"it knows the star, not the topology {topology!r}"
    yield queue == "drop-tail", f"it knows drop-tail, not the queue {queue!r}"
    own = not isinstance(network["buffer"], dict)
    yield own, "it knows a buffer of the port's own, not a shared one"
    yield network["server_rate"] == network["client_rate"], "it knows links of one rate"
    yield not point.tree["background"], "it knows no background traffic"
    yield from _of_workload(point.tree["workload"], point)
    control, recovery = transport["congestion_control"]["name"], transport["recovery"]["name"]
    newreno = (control, recovery) == ("reno", "newreno")
    yield newreno, f"it knows NewReno, not {control!r} with {recovery!r}"
    names = [remedy["name"] for remedy in transport["remedies"]]
    changing = [name for name in names if name not in _HARMLESS]
    yield not changing, f"{', '.join(changing)} changes what happens after a loss"
    for key in ("delayed_ack", "pacing"):
        yield not transport[key], f"it knows transports without {key}"
    kept = transport["idle_restart"] == "none"
    yield kept, "it knows windows that survive an idle time"
    yield transport["limited_transmit"], "it knows transports with limited_transmit"


def _of_workload(workload: dict[str, Any], point: Resolved) -> Iterator[tuple[bool, str]]:
    name = workload["name"]
    yield name == "barrier-read", f"it knows barrier reads, not the workload {name!r}"
    kept = workload["connections"] == "persistent"
    yield kept, "it knows persistent connections, whose windows survive a block"
    yield workload.get("blocks") is not None, "it needs a number of blocks, not a duration"
    yield workload.get("sru") is not None, "it needs an SRU, not a block that is shared out"
    yield point.servers <= MOST_SERVERS, f"it knows up to {MOST_SERVERS} servers"


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))
