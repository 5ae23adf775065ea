"""A resolved scenario in numbers: what tables, pictures and verdicts compute with.

The core writes every quantity in base units (`"1000000000bps"`, `"0.0002s"`, bytes as integers,
`"40pkt"`), so nothing here needs a parser of units.
"""

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Any

from incast import _core, units


@dataclass(frozen=True)
class Resolved:
    """Quantities of one resolved scenario.

    Parameters
    ----------
    tree
        The scenario as the core resolved it.
    """

    tree: dict[str, Any]

    @property
    def topology(self) -> str:
        """Name of the topology."""
        return str(self.tree["network"]["topology"]["name"])

    @property
    def groups(self) -> list[str]:
        """What a run has a row for: `all`, and each table of background traffic."""
        tables = enumerate(self.tree["background"])
        named = [table.get("group") or f"background.{i}.{table['name']}" for i, table in tables]
        return ["all", *dict.fromkeys(named)]

    @property
    def line_rate(self) -> float:
        """Rate of a client's link in bit/s."""
        return _rate(self.tree["network"]["client_rate"])

    @property
    def servers(self) -> int:
        """How many servers answer one request of the client."""
        workload = self.tree["workload"]
        return int(workload.get("active", workload["servers"]))

    @property
    def flows(self) -> int:
        """How many connections carry data."""
        return self.servers * int(self.tree["workload"].get("flows", 1))

    @property
    def clients(self) -> int:
        """How many clients the servers send to."""
        to = self.tree["workload"].get("to", 0)
        return len(set(to)) if isinstance(to, list) else 1

    @property
    def lines(self) -> int:
        """How many clients' links bound the goodput: one where others may be the bottleneck."""
        return self.clients if self.topology == "star" else 1

    @property
    def limit(self) -> float:
        """What these links carry together in bit/s."""
        return self.lines * self.line_rate

    @property
    def line(self) -> str:
        """Rate of these links in words."""
        rate = units.rate(self.line_rate)
        return rate if self.lines == 1 else f"{self.lines} × {rate}"

    @property
    def capacity(self) -> float:
        """What can reach the clients in bit/s: by their links, all the servers', or the demand."""
        return min(self.limit, self.servers * self.server_rate, self.demand)

    @property
    def demand(self) -> float:
        """What the client asks for in bit/s where blocks are wanted at random times, else inf."""
        interval = _time(self.tree["workload"].get("interval", "0s"))
        return self.servers * self.sru * 8 / interval if interval else inf

    @property
    def server_rate(self) -> float:
        """Rate of a server's link in bit/s."""
        return _rate(self.tree["network"]["server_rate"])

    @property
    def mss(self) -> int:
        """Bytes of data in a full segment."""
        return int(self.tree["transport"]["mss"])

    @property
    def packet(self) -> int:
        """Bytes of a full packet, headers included and layer 2 excluded."""
        return self.mss + int(self.tree["transport"]["header_size"])

    @property
    def rto_min(self) -> float:
        """Lower bound of the retransmission timeout in seconds."""
        return _time(self.tree["transport"]["rto_min"])

    @property
    def syn_rto(self) -> float:
        """Seconds after which a SYN that is not answered is sent again."""
        return _time(self.tree["transport"]["syn_rto"])

    @property
    def request_jitter(self) -> float:
        """Most seconds between two requests of a block."""
        return _time(self.tree["workload"].get("request_jitter", "0s"))

    @property
    def lateness(self) -> float:
        """Seconds by which the last server hears of a block later than the first, on average."""
        spread = _time(self.tree["workload"].get("start_spread", "0s"))
        gaps = (self.servers - 1) * self.request_jitter / 2
        return gaps + spread * self.servers / (self.servers + 1)

    @property
    def send_jitter(self) -> float:
        """Most seconds for which a host holds back what it is about to send."""
        return _time(self.tree["transport"].get("send_jitter", "0s"))

    @property
    def transport(self) -> str:
        """Name of the transport."""
        return str(self.tree["transport"]["name"])

    @property
    def reads(self) -> bool:
        """Whether the client reads blocks; if not, the servers send for a given time."""
        return bool(self.tree["workload"]["name"] == "barrier-read")

    @property
    def ideal(self) -> float:
        """Seconds that the data of one block take at the line rate."""
        return self.servers * self.sru * 8 / self.line_rate

    @property
    def fresh(self) -> bool:
        """Whether every block opens new connections."""
        return bool(self.tree["workload"].get("connections") == "fresh")

    @property
    def block(self) -> int | None:
        """Bytes of a block that the servers divide; none if each has so much of its own."""
        block = self.tree["workload"].get("block")
        return None if block is None else int(block)

    @property
    def sru(self) -> int:
        """Bytes that the first server sends for one block."""
        workload = self.tree["workload"]
        if workload.get("sru") is not None:
            return int(workload["sru"])
        return ceil(int(workload["block"]) / self.servers)

    @property
    def buffer_packets(self) -> int:
        """Full packets that the switch port to the client can hold."""
        limit = self._buffer_limit()
        if self.counts_packets:
            return limit
        network = self.tree["network"]
        cell = int(network["buffer_cell"])
        cells = ceil((self.packet + int(network["buffer_packet_overhead"])) / cell)
        return limit // (cells * cell)

    @property
    def buffer_places(self) -> int:
        """Full packets that may wait there, beside the one in service."""
        return self.buffer_packets - bool(self.tree["network"]["buffer_counts_in_service"])

    @property
    def counts_packets(self) -> bool:
        """Whether that buffer is counted in packets, not in bytes."""
        return isinstance(self._buffer_sizes()[0], str)

    @property
    def buffer_bytes(self) -> int:
        """Size of that buffer in bytes, of full packets where it counts packets."""
        limit = self._buffer_limit()
        return limit * self.packet if self.counts_packets else limit

    @property
    def buffer(self) -> str:
        """That buffer in words, in bytes and full packets."""
        packets = units.plural(self.buffer_packets, "packet")
        _, total = self._buffer_sizes()
        if self.counts_packets:
            return packets if total is None else f"{packets} of {self._words(total)} shared"
        size = units.size(self.buffer_bytes)
        shared = "" if total is None else f" of {self._words(total)} shared"
        return f"{size}{shared} ({packets})"

    @property
    def dynamic(self) -> tuple[int, float] | None:
        """What ports share and the alpha of their limits, where these follow what is left."""
        buffer = self.tree["network"]["buffer"]
        if not isinstance(buffer, dict) or "alpha" not in buffer:
            return None
        return _count(buffer["total"]), float(_ratio(str(buffer["alpha"])))

    def _words(self, limit: str | int) -> str:
        """Say what ports share; its unit only where that is not the port's own."""
        if isinstance(limit, int):
            return units.size(limit)
        count = _count(limit)
        return str(count) if self.counts_packets else units.plural(count, "packet")

    def _buffer_sizes(self) -> tuple[Any, Any]:
        """Return the limit of the client's port, and what it shares, as written."""
        buffer = self.tree["network"]["buffer"]
        if isinstance(buffer, dict):
            return buffer.get("limit", buffer["total"]), buffer["total"]
        return buffer, None

    def _buffer_limit(self) -> int:
        """Return what the client's port may hold while no other port is busy.

        With dynamic thresholds that is alpha / (1 + alpha) of the total.
        """
        limit = _count(self._buffer_sizes()[0])
        buffer = self.tree["network"]["buffer"]
        if isinstance(buffer, dict) and "alpha" in buffer:
            alpha = _ratio(str(buffer["alpha"]))
            return int(limit * alpha / (1 + alpha))
        return limit

    @property
    def window_limit(self) -> int:
        """Segments that one server may have outstanding: its SRU or the receive window."""
        return min(ceil(self.sru / self.mss), self._segments("receive_window"))

    @property
    def receive_window(self) -> int:
        """Segments that the client lets a server have outstanding."""
        return self._segments("receive_window")

    @property
    def initial_window(self) -> int:
        """Segments that a server sends at first."""
        return self._segments("initial_window")

    @property
    def initial_threshold(self) -> int:
        """Segments up to which a window that has never lost anything starts slowly."""
        return self._segments("initial_ssthresh")

    @property
    def block_packets(self) -> int:
        """Full packets of a block, all servers together."""
        return self.servers * ceil(self.sru / self.mss)

    @cached_property
    def trunks(self) -> int:
        """How many links between switches the longest way to the client has."""
        if self.tree["network"].get("core") is None:
            return 0
        return _core.trunks(json.dumps(self.tree))

    @property
    def base_rtt(self) -> float:
        """Seconds for a full packet and its ACK on the idle network, serialisation included."""
        return self._round_trip(self.packet)

    @property
    def bare_rtt(self) -> float:
        """Seconds for two packets without data, there and back on the idle network."""
        return self._round_trip(int(self.tree["transport"]["ack_size"]))

    def _round_trip(self, packet: int) -> float:
        network, transport = self.tree["network"], self.tree["transport"]
        core = [_rate(network["core"]["rate"])] * self.trunks if self.trunks else []
        sizes = packet + int(transport["ack_size"]) + 2 * int(network["layer2_overhead"])
        serial = sum(sizes * 8 / rate for rate in (self.server_rate, *core, self.line_rate))
        return serial + self._propagation

    @property
    def round_trip_packets(self) -> int:
        """Packets that the idle path itself holds: rate x round trip of propagation."""
        return int(self.line_rate * self._propagation / 8 / self.packet)

    @property
    def _propagation(self) -> float:
        network = self.tree["network"]
        core = self.trunks * _time(network["core"]["delay"]) if self.trunks else 0.0
        return 2 * (_time(network["server_delay"]) + core + _time(network["delay"]))

    def window(self, round_trip: int) -> int:
        """Packets that all servers together send in the n-th round trip of slow start.

        The first is the initial window; each later one doubles it, as far as the receive window
        and the rest of the SRU allow.
        """
        first = self._segments("initial_window")
        doubled: int = first * 2 ** (round_trip - 1)
        left = max(ceil(self.sru / self.mss) - (doubled - first), 0)
        return self.servers * min(doubled, self._segments("receive_window"), left)

    def _segments(self, key: str) -> int:
        window = self.tree["transport"][key]
        if isinstance(window, str):
            return max(int(window.removesuffix("B")) // self.mss, 1)
        return int(window)


def _rate(text: str) -> float:
    return float(text.removesuffix("bps"))


def _time(text: str) -> float:
    return float(text.removesuffix("s"))


def _count(limit: str | int) -> int:
    return int(str(limit).removesuffix("pkt"))


def _ratio(text: str) -> Fraction:
    """Read an alpha as the core writes it: `2^-3`, `3/10` or `4`."""
    base, power, exponent = text.partition("^")
    return Fraction(int(base)) ** int(exponent) if power else Fraction(text)
