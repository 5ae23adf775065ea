"""The parameters that the model takes from a scenario, in packets and packet times."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incast.models.collapse.stacks import Stack, stack
from incast.models.numbers import Floats, floats
from incast.models.registry import Question
from incast.scenario.lossless import Lossless
from incast.scenario.resolved import Resolved

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Reads:
    """Parameters of reads, one element per scenario. Packet times are those of the client's link.

    Parameters
    ----------
    servers
        N, at least 1.
    segments
        S, segments of the SRU.
    last
        Payload of the last segment, as a share of a full segment's payload.
    packet, header, bare, layer2
        Bytes of a full packet, of its headers, of a packet without payload, and of the layer-2
        overhead of every packet.
    slower
        Rate of the client's link, divided by the rate of a server's link.
    packet_s
        Time of one full packet on the client's link, s.
    buffer
        Capacity of the buffer in front of the client's link, in bytes or packets.
    counts_packets
        Whether the buffer counts packets.
    cell, extra
        Bytes of a cell of the buffer, and the additional bytes that every packet occupies.
    mark_threshold, mark_packets, mark_in_service, mark_arriving
        The queue length above which packets are marked, which is infinite without marks; whether
        this length is in packets; whether it includes the packet in service; and whether it
        includes the arriving packet.
    propagation
        Propagation delay of a round trip, in packet times.
    gap
        Mean time between two requests, in packet times.
    spread, jitter
        Largest additional delay of a request, and largest delay of a host before it sends data, in
        packet times.
    fresh
        Whether every block opens new connections.
    rto_min, rto_max
        Bounds of the RTO, s.
    handshakes
        Whether each server's first packet is a SYN or SYN-ACK that must be acknowledged.
    syn_rto
        Time after which a lost SYN or SYN-ACK is retransmitted, s.
    first_rto, later_rto
        RTO before the first measured round trip if there is no handshake, and RTO after a lost
        handshake, s.
    blocks
        Number of blocks of a run. The first block opens the connections. With `fresh`, every block
        opens connections.
    initial_window, initial_threshold, most_window
        Window and slow-start threshold of a new connection, and the receiver's window, in segments.
    repair
        See `incast.models.collapse.stacks.Stack` for this parameter and all that follow.
    """

    servers: Floats
    segments: Floats
    last: Floats
    packet: Floats
    header: Floats
    bare: Floats
    layer2: Floats
    slower: Floats
    packet_s: Floats
    buffer: Floats
    counts_packets: Flags
    cell: Floats
    extra: Floats
    mark_threshold: Floats
    mark_packets: Flags
    mark_in_service: Flags
    mark_arriving: Flags
    propagation: Floats
    gap: Floats
    spread: Floats
    jitter: Floats
    fresh: Flags
    rto_min: Floats
    rto_max: Floats
    handshakes: Flags
    syn_rto: Floats
    first_rto: Floats
    later_rto: Floats
    blocks: Floats
    initial_window: Floats
    initial_threshold: Floats
    most_window: Floats
    repair: Floats
    careful: Flags
    impatient: Flags
    restarts_timer: Flags
    limited_transmit: Flags
    limited_again: Flags
    in_turn: Flags
    exit: Floats
    halved: Floats
    burst: Floats
    answers: Flags
    rescues: Flags
    block_bytes: Flags
    whole_windows: Flags
    defers: Flags
    closes: Flags
    proportional: Flags
    examine: Floats
    growth: Floats
    cubic_c: Floats
    cubic_beta: Floats
    cubic_yields: Flags
    cubic_friendly: Flags
    cubic_blind: Floats
    cubic_counts: Flags
    watch: Floats
    bbr_startup: Floats
    bbr_cruise: Floats
    bbr_probe: Floats
    bbr_rounds: Floats
    bbr_full_rounds: Floats
    bbr_least: Floats
    bbr_burst: Floats
    bbr_burst_time: Floats
    bbr_round_trip_time: Floats
    bbr_probe_time: Floats
    uses_marks: Flags
    mark_alpha: Floats
    mark_gain: Floats
    mark_floor: Floats
    mark_at_once: Flags
    probes: Floats
    probe_first: Floats
    probe_margin: Floats
    probe_ack_delay: Floats
    reduces_again: Flags
    needs_reordering: Flags
    style: Floats
    granularity: Floats
    per_window: Flags
    timestamps: Flags
    times_blocks: Flags
    tick: Floats
    runs_idle: Flags
    ack_every: Floats
    ack_timeout: Floats
    quick: Floats
    counts_acks: Flags
    idle: Floats
    arrival_first: Flags

    def __len__(self) -> int:
        return len(self.servers)

    def take(self, index: NDArray[np.int64] | NDArray[np.bool_]) -> "Reads":
        """Return some of the reads."""
        return Reads(*(getattr(self, field.name)[index] for field in fields(self)))

    def with_servers(self, servers: Sequence[int]) -> "Reads":
        """Return every read with every number of servers, one read after the other."""
        each = self.take(np.repeat(np.arange(len(self)), len(servers)))
        values = {field.name: getattr(each, field.name) for field in fields(self)}
        return Reads(**values | {"servers": np.tile(floats(servers), len(self))})

    @property
    def lossless_s(self) -> Floats:
        """Mean duration of a block without losses, s (see `incast.scenario.lossless`)."""
        whole = self.packet + self.layer2
        bare = (self.bare + self.layer2) / whole * (1.0 + self.slower)
        greeting = self.propagation + 2.0 * bare
        block = Lossless(
            servers=self.servers,
            segments=self.segments,
            data=self._data,
            own=self.slower,
            shared=np.maximum(1.0, self.slower / self.servers),
            trip=self.propagation + 1.0 + self.slower + bare + self.jitter / 2,
            greeting=np.where(self.handshakes, greeting, 0.0),
            late=(self.servers - 1) * self.gap + self.spread * self.servers / (self.servers + 1),
            initial=np.minimum(self.initial_window, self.most_window),
            most=self.most_window,
            blocks=np.where(self.fresh, 1.0, self.blocks),
        )
        return block.time * self.packet_s

    @property
    def _data(self) -> Floats:
        """Return the size of an SRU, in full packets."""
        payload = (self.packet - self.header) / (self.packet + self.layer2)
        return self.segments - payload * (1.0 - self.last)

    @property
    def least_s(self) -> Floats:
        """Seconds that the client's link needs to send the data of a block. No block is faster."""
        return self.servers * self._data * self.packet_s

    @property
    def payload_bits(self) -> Floats:
        """Application bits of a block."""
        part = self.segments - 1.0 + self.last
        return self.servers * part * (self.packet - self.header) * 8


def read(questions: Sequence[Question]) -> Reads:
    """Return the parameters of scenarios that `refusal` accepts."""
    rows = [_row(question.point) for question in questions]
    columns: dict[str, Any] = {}
    for field in fields(Reads):
        column = [row[field.name] for row in rows]
        flags = field.type == Flags
        columns[field.name] = np.array(column, dtype=np.bool_) if flags else floats(column)
    return Reads(**columns)


def _row(point: Resolved) -> dict[str, float | bool]:
    transport, network = point.tree["transport"], point.tree["network"]
    workload = point.workload
    facts = point.facts
    packet_s = facts["wire_bytes"] * 8 / point.line_rate
    # With `syn-only`, a client sends a SYN and does not wait for its acknowledgement.
    opener = {"client": ("three-way",), "server": ("three-way", "syn-only")}[transport["opener"]]
    row: dict[str, float | bool] = {
        "servers": point.servers,
        "segments": facts["sru_segments"],
        "last": facts["last_segment_bytes"] / point.mss,
        "packet": point.packet,
        "header": point.packet - point.mss,
        "bare": int(transport["ack_size"]),
        "layer2": int(network["layer2_overhead"]),
        "slower": point.line_rate / point.server_rate,
        "packet_s": packet_s,
        "buffer": _buffer(point),
        "counts_packets": point.counts_packets,
        "cell": int(network["buffer_cell"]),
        "extra": int(network["buffer_packet_overhead"]),
        "propagation": facts["propagation_s"] / packet_s,
        "gap": point.request_jitter / 2 / packet_s,
        "spread": facts["start_spread_s"] / packet_s,
        "jitter": point.send_jitter / packet_s,
        "fresh": point.fresh,
        "rto_min": point.rto_min,
        "rto_max": facts["rto_max_s"],
        "handshakes": transport["handshake"] in opener,
        "syn_rto": point.syn_rto,
        "first_rto": facts["rto_initial_s"],
        "later_rto": facts["rto_after_syn_loss_s"],
        "blocks": int(workload["blocks"]),
        "initial_window": point.initial_window,
        "initial_threshold": point.initial_threshold,
        "most_window": point.receive_window,
    }
    row |= _marking(point)
    ways: Stack = stack(point)
    return row | {field.name: getattr(ways, field.name) for field in fields(Stack)}


def _buffer(point: Resolved) -> float:
    """Return the capacity of the queue, in packets if the buffer counts packets, else in bytes."""
    if point.counts_packets:
        return float(point.buffer_places)
    counts_in_service = point.tree["network"]["buffer_counts_in_service"]
    sent = point.facts["packet_space_bytes"] if counts_in_service else 0
    return float(max(point.buffer_bytes - sent, 0))


def _marking(point: Resolved) -> dict[str, float | bool]:
    """Return the parameters by which the switch marks packets."""
    network = point.tree["network"]
    queue = network["queue"]
    if queue["name"] != "ecn-threshold":
        none = {"mark_packets": True, "mark_in_service": False, "mark_arriving": False}
        return {"mark_threshold": inf} | none
    threshold = queue["threshold"]
    counts_packets = isinstance(threshold, str) and threshold.endswith("pkt")
    in_service = queue.get("counts_in_service", network["buffer_counts_in_service"])
    return {
        "mark_threshold": float(str(threshold).removesuffix("pkt")),
        "mark_packets": counts_packets,
        "mark_in_service": bool(in_service),
        "mark_arriving": queue["counts_arriving"],
    }
