"""The numbers of a resolved scenario, for tables, pictures and verdicts.

The core derives the numbers from the scenario (`_core.Scenario.facts`). No quantity is parsed here.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

from incast import _core, units

if TYPE_CHECKING:
    from incast._core import Facts


@dataclass(frozen=True)
class Resolved:
    """Quantities of one resolved scenario.

    Parameters
    ----------
    tree
        The scenario as the core resolved it.
    scenario
        The same scenario as the core has read it; by default the core reads `tree`.
    """

    tree: dict[str, Any]
    scenario: _core.Scenario | None = field(default=None, repr=False, compare=False)

    @cached_property
    def facts(self) -> "Facts":
        """The quantities that follow from the scenario, in base units."""
        scenario = self.scenario or _core.Scenario(json.dumps(self.tree))
        return scenario.facts()

    def other_family(self, what: str) -> str | None:
        """Return why `what`, which is for TCP, does not apply to the scenario; None if it does."""
        family = self.facts["family"]
        if family == "tcp":
            return None
        return (
            f"transport.name: {self.transport!r} is of the family {family!r}, and {what} is for "
            "TCP; write e.g. 'newreno'"
        )

    @property
    def topology(self) -> str:
        """Name of the topology."""
        return str(self.tree["network"]["topology"]["name"])

    @property
    def groups(self) -> list[str]:
        """The groups of a run's rows: `all`, each of several workloads, and background traffic."""
        return self.facts["groups"]

    @property
    def profile(self) -> str:
        """Name of the profile, which sets the keys that the document leaves out."""
        return str(self.tree["profile"])

    @property
    def line_rate(self) -> float:
        """Rate of a client's link in bit/s."""
        return self.facts["client_rate_bps"]

    @property
    def servers(self) -> int:
        """Number of servers that answer one request of the client."""
        return self.facts["servers"]

    @property
    def flows(self) -> int:
        """Number of connections that carry data."""
        return self.facts["flows"]

    @property
    def clients(self) -> int:
        """Number of clients to which the servers send."""
        return self.facts["clients"]

    @property
    def lines(self) -> int:
        """Number of clients' links that limit the goodput: all on a star, otherwise one link."""
        return self.clients if self.topology == "star" else 1

    @property
    def limit(self) -> float:
        """Total rate in bit/s of the clients' links that limit the goodput."""
        return self.lines * self.line_rate

    @property
    def line(self) -> str:
        """Rate of the clients' links that limit the goodput, in words."""
        rate = units.rate(self.line_rate)
        return rate if self.lines == 1 else f"{self.lines} × {rate}"

    @property
    def capacity(self) -> float:
        """Lowest of three rates in bit/s: the clients' links, all servers' links, the demand."""
        return min(self.limit, self.servers * self.server_rate, self.demand)

    @property
    def demand(self) -> float:
        """The requested load in bit/s if blocks are requested at random times, else inf."""
        interval = self.facts["interval_s"]
        return self.servers * self.sru * 8 / interval if interval else inf

    @property
    def server_rate(self) -> float:
        """Rate of a server's link in bit/s."""
        return self.facts["server_rate_bps"]

    @property
    def mss(self) -> int:
        """Bytes of data in a full packet."""
        return self.facts["payload_bytes"]

    @property
    def packet(self) -> int:
        """Bytes of a full packet, headers included and layer 2 excluded."""
        return self.facts["packet_bytes"]

    @property
    def rto_min(self) -> float:
        """Lower bound of the retransmission timeout in seconds."""
        return self.facts["rto_min_s"]

    @property
    def syn_rto(self) -> float:
        """Seconds after which an unanswered SYN is retransmitted."""
        return self.facts["syn_rto_s"]

    @property
    def request_jitter(self) -> float:
        """Maximum time in seconds between two requests of a block."""
        return self.facts["request_jitter_s"]

    @property
    def lateness(self) -> float:
        """Mean seconds from when the first server learns of a block until the last server does."""
        gaps = (self.servers - 1) * self.request_jitter / 2
        spread = self.facts["start_spread_s"] + self.facts["request_spread_s"]
        return gaps + spread * self.servers / (self.servers + 1)

    @property
    def send_jitter(self) -> float:
        """Maximum time in seconds for which a host holds back a packet before sending it."""
        return self.facts["send_jitter_s"]

    @property
    def transport(self) -> str:
        """Name of the transport."""
        return str(self.tree["transport"]["name"])

    @property
    def workloads(self) -> list[dict[str, Any]]:
        """The tables of workloads; usually there is one."""
        given = self.tree["workload"]
        return given if isinstance(given, list) else [given]

    @property
    def workload(self) -> dict[str, Any]:
        """The table of the first workload."""
        return self.workloads[0]

    @property
    def doing(self) -> str:
        """Name of the workload, or `several workloads`, for sentences."""
        return "several workloads" if len(self.workloads) > 1 else str(self.workload["name"])

    @property
    def judged(self) -> bool:
        """Whether a collapse is defined, as it is for one read and for long flows."""
        known = {"barrier-read", "long-flows"}
        return len(self.workloads) == 1 and self.workload["name"] in known

    @property
    def reads(self) -> bool:
        """Whether the only workload is a client that reads blocks."""
        return self.judged and bool(self.workload["name"] == "barrier-read")

    @property
    def ideal(self) -> float:
        """Seconds that the data of one block take at the line rate."""
        return self.servers * self.sru * 8 / self.line_rate

    @property
    def fresh(self) -> bool:
        """Whether every block opens new connections."""
        return bool(self.workload.get("connections") == "fresh")

    @property
    def block(self) -> int | None:
        """Bytes of a block, divided among the servers; None if the size per server is given."""
        block = self.workload.get("block")
        return None if block is None else int(block)

    @property
    def sru(self) -> int:
        """Bytes that the first server sends for one block."""
        return self.facts["sru_bytes"]

    @property
    def thresholds(self) -> dict[str, float]:
        """Thresholds of the queue discipline by key, in the unit of the buffer."""
        return dict(zip(self.facts["thresholds"], self.facts["threshold_lengths"], strict=True))

    @property
    def buffer_packets(self) -> int:
        """Full packets that the switch port to the client can hold."""
        return self.facts["buffer_packets"]

    @property
    def buffer_places(self) -> int:
        """Full packets that may wait at the port to the client, besides the packet in service."""
        return self.buffer_packets - bool(self.tree["network"]["buffer_counts_in_service"])

    @property
    def counts_packets(self) -> bool:
        """Whether the buffer of the port to the client counts packets, not bytes."""
        return self.facts["buffer_counts_packets"]

    @property
    def buffer_bytes(self) -> int:
        """Bytes in the buffer of the port to the client; a buffer in packets holds full packets."""
        return self.facts["buffer_bytes"]

    @property
    def buffer(self) -> str:
        """Size of the buffer of the port to the client in words: bytes and full packets."""
        packets = units.plural(self.buffer_packets, "packet")
        shared = f" of {self._total} shared" if self.facts["buffer_total"] is not None else ""
        if self.counts_packets:
            return f"{packets}{shared}"
        return f"{units.size(self.buffer_bytes)}{shared} ({packets})"

    @property
    def dynamic(self) -> tuple[int, float] | None:
        """Size of the shared buffer and alpha of its dynamic limits; None without such limits."""
        total, alpha = self.facts["buffer_total"], self.facts["buffer_alpha"]
        return None if total is None or alpha is None else (total, alpha)

    @property
    def _total(self) -> str:
        """Size of the shared buffer in words; without the unit if the port counts packets."""
        total = self.facts["buffer_total"] or 0
        if not self.facts["buffer_total_counts_packets"]:
            return units.size(total)
        return str(total) if self.counts_packets else units.plural(total, "packet")

    @property
    def window_limit(self) -> int:
        """Segments that one server may have outstanding: at most its SRU and the receive window."""
        return min(self.facts["sru_segments"], self.receive_window)

    @property
    def receive_window(self) -> int:
        """Segments that the client lets a server have outstanding."""
        return self.facts["receive_window_segments"]

    @property
    def initial_window(self) -> int:
        """Segments that a server sends at first."""
        return self.facts["initial_window_segments"]

    @property
    def initial_threshold(self) -> int:
        """Initial slow-start threshold in segments."""
        return self.facts["initial_ssthresh_segments"]

    @property
    def block_packets(self) -> int:
        """Full packets of a block, all servers together."""
        return self.servers * self.facts["sru_segments"]

    @property
    def trunks(self) -> int:
        """Number of links between switches on the longest path to the client."""
        return self.facts["trunks"]

    @property
    def time_limit(self) -> float:
        """Seconds after which a run ends in any case."""
        return self.facts["time_limit_s"]

    @property
    def base_rtt(self) -> float:
        """Seconds for a full packet and its ACK on the idle network, serialisation included."""
        return self.facts["base_rtt_s"]

    @property
    def bare_rtt(self) -> float:
        """Round trip, in seconds, of two packets without data on the idle network."""
        return self.facts["bare_rtt_s"]

    @property
    def round_trip_packets(self) -> int:
        """Packets that the idle path itself holds: rate x round trip of propagation."""
        return int(self.line_rate * self.facts["propagation_s"] / 8 / self.packet)

    def window(self, round_trip: int) -> int:
        """Packets that all servers together send in the n-th round trip of slow start.

        In the first round trip, each server sends its initial window. In each later round trip, it
        sends twice as much as before, as far as the receive window and the rest of the SRU allow.
        """
        first = self.initial_window
        doubled: int = first * 2 ** (round_trip - 1)
        left = max(self.facts["sru_segments"] - (doubled - first), 0)
        return self.servers * min(doubled, self.receive_window, left)
