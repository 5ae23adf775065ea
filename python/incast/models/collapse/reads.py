"""What the model knows of a scenario, in packets and packet times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import ceil
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
        S, segments of the SRU.
    last
        Payload of the last of them, as a share of a full segment's.
    packet, header
        Bytes of a full packet, and of one without payload.
    packet_s
        Time of one full packet on a link, s; all links have one rate.
    buffer
        What may wait in front of the client's link: bytes, or packets.
    counts_packets
        Whether it counts packets.
    propagation
        Round trip of propagation, packet times.
    gap
        Mean time between two requests, packet times.
    rto_min, rto_max
        Bounds of the RTO, s.
    handshakes
        Whether each server's first packet is a SYN-ACK, or a SYN, that has to be answered.
    syn_rto
        Time after which one that is lost is sent again, s.
    first_rto
        RTO before the first round trip: without a handshake, or after a lost one; s.
    blocks
        Blocks of a run; the first opens the connections.
    initial_window, initial_threshold, most_window
        Window and slow-start threshold of a connection that has just opened, and the receiver's
        window; segments.
    """

    servers: Floats
    segments: Floats
    last: Floats
    packet: Floats
    header: Floats
    packet_s: Floats
    buffer: Floats
    counts_packets: NDArray[np.bool_]
    propagation: Floats
    gap: Floats
    rto_min: Floats
    rto_max: Floats
    handshakes: NDArray[np.bool_]
    syn_rto: Floats
    first_rto: Floats
    blocks: Floats
    initial_window: Floats
    initial_threshold: Floats
    most_window: Floats

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
    def lossless_s(self) -> Floats:
        """Mean seconds of a block in which nothing is lost.

        The link's or the requests' time, whichever is longer, and a round trip. In the first block
        a handshake comes before, and the link idles for as long as the windows of all servers,
        which double, do not fill the path.
        """
        header = self.header / self.packet
        part = self.segments - (1.0 - header) * (1.0 - self.last)
        work = self.servers * part
        asking = (self.servers - 1) * self.gap + part
        pipe = self.propagation + 1.0 + 2.0 * header
        all_windows = self.servers * self.initial_window
        rounds = np.ceil(np.log2(self.segments / self.initial_window + 1.0))
        idle = np.ceil(np.log2(np.maximum(pipe / all_windows, 1.0))).clip(0.0, rounds)
        together = idle * pipe - all_windows * (2.0**idle - 1.0)
        first = self.handshakes * pipe + np.where(work > asking, together, (rounds - 1.0) * pipe)
        return (np.maximum(work, asking) + pipe + first / self.blocks) * self.packet_s

    @property
    def payload_bits(self) -> Floats:
        """Application bits of a block."""
        part = self.segments - 1.0 + self.last
        return self.servers * part * (self.packet - self.header) * 8


def read(questions: Sequence[Question]) -> Reads:
    """Take the quantities of scenarios to which `refusal` has no objection."""
    rows = np.array([_row(question.point) for question in questions])
    columns: dict[str, Any] = {
        field.name: floats(column)
        for field, column in zip(
            fields(Reads), rows.reshape(len(questions), len(fields(Reads))).T, strict=True
        )
    }
    for flag in ("counts_packets", "handshakes"):
        columns[flag] = columns[flag].astype(np.bool_)
    return Reads(**columns)


def _row(point: Resolved) -> tuple[float, ...]:
    transport, network = point.tree["transport"], point.tree["network"]
    packet_s = point.packet * 8 / point.line_rate
    last = point.sru % point.mss or point.mss
    # What a client opens by a SYN alone does not wait for an answer.
    opener = {"client": ("three-way",), "server": ("three-way", "syn-only")}[transport["opener"]]
    handshakes = transport["handshake"] in opener
    round_trip = 2 * (_seconds(network["server_delay"]) + _seconds(network["delay"]))
    return (
        float(point.servers),
        float(ceil(point.sru / point.mss)),
        last / point.mss,
        float(point.packet),
        float(point.packet - point.mss),
        packet_s,
        _buffer(point),
        float(point.counts_packets),
        round_trip / packet_s,
        _seconds(point.tree["workload"]["request_jitter"]) / 2 / packet_s,
        point.rto_min,
        _seconds(transport["rto_max"]),
        float(handshakes),
        _seconds(transport["syn_rto"]),
        _seconds(transport["rto_after_syn_loss" if handshakes else "rto_initial"]),
        float(point.tree["workload"]["blocks"]),
        float(point.window(1) // point.servers),
        float(point.initial_threshold),
        float(point.receive_window),
    )


def _buffer(point: Resolved) -> float:
    """Return what may wait, in packets where the buffer counts them, else in bytes."""
    if point.counts_packets:
        return float(point.buffer_places)
    network = point.tree["network"]
    if int(network["buffer_cell"]) > 1 or int(network["buffer_packet_overhead"]):
        return float(point.buffer_places * point.packet)
    sent = point.packet if network["buffer_counts_in_service"] else 0
    return float(max(point.buffer_bytes - sent, 0))


def refusal(question: Question) -> str | None:
    """Return why the model knows nothing of a scenario, or None."""
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
