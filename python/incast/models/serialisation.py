"""The equations of connection serialisation: CCS, NCCS(K) and OCS.

Osada, Miyayama, Fukushima, Yokohira: TCP Incast Avoidance Based on Connection Serialization in Data
Center Networks, equations (2) to (12) and appendix A. One client has a link of rate V, and all
round trips are equal. A connection starts with a window of 2 packets, doubles the window every
round trip, and stops at the bandwidth-delay product B. Time begins when the SYN-ACK leaves.

The simulator's clients use the same equations (`crates/remedies/src/serialize`); here the equations
take arrays. This file also contains equations that the clients do not need. Where the printed text
contradicts its own arithmetic, this file follows the arithmetic. So (12) has the factor 8 here,
which the printed (12) lacks. 1 KB is 1024 bytes, so T2 of 64 KB is 372 us instead of about 360 us.
This file keeps one odd but consistent definition: in T1, the ACKs of round m are counted from the
arrival of the first ACK, one packet time after the beginning of the round. With this definition, T1
is 412 us, while an event simulation gives 400 us.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from incast import _core
from incast.models.numbers import Floats, floats
from incast.models.registry import Answer, NotApplicable, Question

SMALLEST_WINDOW = 4
"""Smallest window, in packets, that can cause three duplicate ACKs (9, case b)."""


@dataclass(frozen=True)
class Path:
    """The path between the client and its servers. Values are scalars, or arrays that broadcast.

    Parameters
    ----------
    rate
        V, bit/s.
    base_rtt
        BaseRTT, seconds: round trip of a full packet on the idle network, including serialisation.
    mss, header
        Bytes of data and bytes of headers in a full packet.
    """

    rate: ArrayLike
    base_rtt: ArrayLike
    mss: ArrayLike = 1460
    header: ArrayLike = 40

    @property
    def packet_time(self) -> Floats:
        """Seconds that the link needs for a full packet."""
        return floats((floats(self.mss) + floats(self.header)) * 8 / floats(self.rate))

    @property
    def product(self) -> Floats:
        """B = V/8·BaseRTT/(MSS + 40), in packets, not rounded (2)."""
        return floats(floats(self.base_rtt) / self.packet_time)

    @cached_property
    def _alone(self) -> dict[str, Floats]:
        return self._summary(sru=0)

    @property
    def product_packets(self) -> Floats:
        """⌈B⌉ in packets, at least 1."""
        return self._alone["product_packets"]

    @property
    def rounds(self) -> Floats:
        """M = ⌈log2 B⌉ + 1 (3): round trips until the window exceeds B, including the handshake.

        If B is below 2, it counts as 2, because the window starts at 2 packets and cannot grow.
        """
        return self._alone["rounds"]

    @property
    def ramp(self) -> Floats:
        """T1, seconds until the window reaches B (4)."""
        return self._alone["ramp_s"]

    def ramps(self, sru: ArrayLike) -> Floats:
        """Return 1 where an SRU of S bytes is long enough for the window to reach B (6), else 0."""
        return self._summary(sru)["ramps"]

    def plateau(self, sru: ArrayLike) -> Floats:
        """Return T2, seconds from the end of T1 until the last packet of S bytes (5).

        The result is NaN where the window never reaches B.
        """
        return self._summary(sru)["plateau_s"]

    def one_after_another(self, sru: ArrayLike) -> Floats:
        """Return CCS's goodput in bit/s: S·8 / (T1 + T2 + BaseRTT/2), with BaseRTT/2 for the SYN.

        The result is rough: for 32 KB it is 460 Mbps, while CCS reaches about 450 Mbps in the text.
        The result is NaN where the window never reaches B.
        """
        time = self.ramp + self.plateau(sru) + floats(self.base_rtt) / 2
        return floats(floats(sru) * 8 / time)

    def ideal_completion(self, servers: ArrayLike, sru: ArrayLike) -> Floats:
        """Return MCT_ideal (12): seconds for N_a·⌈S/MSS⌉ packets on a link that is never idle."""
        return self._summary(sru, servers=servers)["ideal_completion_s"]

    def greatest_goodput(self, background: ArrayLike = 0.0) -> Floats:
        """Return the goodput of a link that is never idle, in bit/s (§5.1).

        Parameters
        ----------
        background
            Rate of the background traffic on this link, bit/s.
        """
        return self._summary(sru=0, background=background)["greatest_goodput_bps"]

    def sets(self, sru: ArrayLike) -> "Sets":
        """Return the smallest set of connections whose T_2 is at least as long as two T_1 (8)."""
        summary = self._summary(sru)
        return Sets(summary["connections"], summary["window"], summary["peak_queue"])

    def _summary(
        self, sru: ArrayLike, servers: ArrayLike = 1, background: ArrayLike = 0.0
    ) -> dict[str, Floats]:
        """Return, by name, the values that the core computes with the equations."""
        asked = (self.rate, self.base_rtt, self.mss, self.header, sru, servers, background)
        columns = np.broadcast_arrays(*map(floats, asked))
        summary = _core.serialisation([column.ravel() for column in columns])
        return {name: values.reshape(columns[0].shape) for name, values in summary.items()}


@dataclass(frozen=True)
class Sets:
    """The sets of connections that OCS opens one after the other.

    Parameters
    ----------
    connections
        n_min (8, 9).
    window
        wnd, the window of each connection in packets (10).
    peak_queue
        Q_max = 2·n_min·wnd - ⌈B⌉, the queue in packets while two sets are open (11).
    """

    connections: Floats
    window: Floats
    peak_queue: Floats


def peak_queue_bound(path: Path, *, form: Literal["printed", "exact"] = "exact") -> Floats:
    """Return an upper bound of the queue (11) over all SRUs, in packets.

    Parameters
    ----------
    path
        The path.
    form
        "printed" is the bound of appendix A, 3·B; "exact" is the greater of the two cases of (9).

    Notes
    -----
    The printed bound is loose. Case (a) has windows of at least 4, so ⌈B/n⌉·n < B + n ≤ 1.25 B and
    Q_max < 1.5·B (plus a packet for the fraction of B). Case (b) gives 8·⌈B/4⌉ - ⌈B⌉, which is
    15/8·B just above B = 8, and at most 15/9·B from B = 9 on. Below B = 2 the printed bound is
    wrong, because case (b) gives 6 or 7 packets.
    """
    product = path.product
    if form == "printed":
        return floats(3 * product)
    up = path.product_packets
    small = 2 * SMALLEST_WINDOW * np.ceil(up / SMALLEST_WINDOW) - up
    most = np.floor(product / SMALLEST_WINDOW + 1e-9)
    n = np.maximum(most, 1)
    wide = np.where(most >= 1, 2 * n + 2 * product - up, 0)
    return floats(np.maximum(small, np.ceil(wide - 1e-9)))


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer for a read that `ccs`, `nccs` or `ocs` serialises."""
    return [_answer(question) for question in questions]


def _answer(question: Question) -> Answer:
    point = question.point
    remedies = [remedy["name"] for remedy in point.tree["transport"]["remedies"]]
    scheme = next((name for name in remedies if name in {"ccs", "nccs", "ocs"}), None)
    if scheme is None:
        return NotApplicable("the transport must have ccs, nccs or ocs")
    if not point.reads:
        return NotApplicable("the workload must be a read, not long flows")
    if point.topology != "star" or point.server_rate != point.line_rate:
        return NotApplicable("the network must be a star with links of one rate")
    beside = _datagrams(question)
    if beside is None:
        return NotApplicable("background traffic must be datagrams, not TCP connections")
    path = Path(point.line_rate, point.base_rtt, point.mss, point.packet - point.mss)
    groups = path.sets(point.sru)
    summary = {
        "serialisation.ramp_s": path.ramp,
        "serialisation.sets_connections": groups.connections,
        "serialisation.sets_window": groups.window,
    }
    if scheme == "ccs" and path.ramps(point.sru) > 0:
        summary["goodput_bps"] = path.one_after_another(point.sru)
    if scheme == "ocs":
        summary["queue_max_packets"] = groups.peak_queue
        left = 1 - beside / point.line_rate
        summary["completion_s"] = path.ideal_completion(point.servers, point.sru) / left
        summary["goodput_bps"] = floats(point.servers * point.sru * 8 / summary["completion_s"])
    return {name: float(value) for name, value in summary.items()}


def _datagrams(question: Question) -> float | None:
    """Return the rate of background datagrams in bit/s, or None if other traffic is present."""
    rates = question.point.facts["background_rates_bps"]
    return None if None in rates else sum(rate or 0.0 for rate in rates)
