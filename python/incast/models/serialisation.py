"""The equations of connection serialisation: CCS, NCCS(K) and OCS.

Osada, Miyayama, Fukushima, Yokohira: TCP Incast Avoidance Based on Connection Serialization in Data
Center Networks, equations (2) to (12) and appendix A. One client with a link of rate V, equal
round trips; a connection starts with a window of 2 packets, doubles it every round trip, and stops
at the bandwidth-delay product B. Time begins when the SYN-ACK leaves.

The equations are those by which the simulator's clients plan (`crates/remedies/src/serialize`),
for arrays; what the clients do not need is here. Where the printed text contradicts its
arithmetic, the arithmetic stands: (12) lacks the factor 8; K is 1024, with which T2 of 64 KB is
372 us, not about 360. What is odd but consistent stays: T1 counts the ACKs of round m from one
packet's time after its beginning (an event simulation gives 400 us, not 412).
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
"""A window smaller than this has no three duplicate ACKs (9, case b)."""


@dataclass(frozen=True)
class Path:
    """The path between the client and its servers; scalars, or arrays that broadcast.

    Parameters
    ----------
    rate
        V, bit/s.
    base_rtt
        BaseRTT, seconds: round trip of one full packet on the idle network, serialisation included.
    mss, header
        Bytes of data, and of headers, in a full packet.
    """

    rate: ArrayLike
    base_rtt: ArrayLike
    mss: ArrayLike = 1460
    header: ArrayLike = 40

    @property
    def packet_time(self) -> Floats:
        """Seconds that the link takes for a full packet."""
        return floats((floats(self.mss) + floats(self.header)) * 8 / floats(self.rate))

    @property
    def product(self) -> Floats:
        """B = V/8·BaseRTT/(MSS + 40), packets, a fraction (2)."""
        return floats(floats(self.base_rtt) / self.packet_time)

    @cached_property
    def _alone(self) -> dict[str, Floats]:
        return self._summary(sru=0)

    @property
    def product_packets(self) -> Floats:
        """⌈B⌉, packets, 1 at least."""
        return self._alone["product_packets"]

    @property
    def rounds(self) -> Floats:
        """M = ⌈log2 B⌉ + 1 (3): round trips until the window exceeds B, the handshake's included.

        B counts as 2 at the least: a window that starts at 2 never grows in a smaller one.
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
        """Return T2, seconds from then until the last packet of S bytes (5).

        Not a number where the window never reaches B.
        """
        return self._summary(sru)["plateau_s"]

    def one_after_another(self, sru: ArrayLike) -> Floats:
        """Return CCS's goodput, bit/s: S·8 / (T1 + T2 + BaseRTT/2), the half for the SYN.

        A rough number: in the text CCS reaches about 450 Mbps for 32 KB, where this is 460. Not a
        number where the window never reaches B.
        """
        time = self.ramp + self.plateau(sru) + floats(self.base_rtt) / 2
        return floats(floats(sru) * 8 / time)

    def ideal_completion(self, servers: ArrayLike, sru: ArrayLike) -> Floats:
        """Return MCT_ideal, seconds: N_a·⌈S/MSS⌉ packets on a link that never rests (12)."""
        return self._summary(sru, servers=servers)["ideal_completion_s"]

    def greatest_goodput(self, background: ArrayLike = 0.0) -> Floats:
        """Return the goodput, bit/s, of a never idle link beside `background` bit/s (§5.1)."""
        return self._summary(sru=0, background=background)["greatest_goodput_bps"]

    def sets(self, sru: ArrayLike) -> "Sets":
        """Return the smallest set whose T_2 lasts for two T_1 (8), and its windows."""
        summary = self._summary(sru)
        return Sets(summary["connections"], summary["window"], summary["peak_queue"])

    def _summary(
        self, sru: ArrayLike, servers: ArrayLike = 1, background: ArrayLike = 0.0
    ) -> dict[str, Floats]:
        """Return the core's values, by the names of the equations."""
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
        wnd, packets of each connection (10).
    peak_queue
        Q_max = 2·n_min·wnd - ⌈B⌉, packets while two sets are open (11).
    """

    connections: Floats
    window: Floats
    peak_queue: Floats


def peak_queue_bound(path: Path, *, form: Literal["printed", "exact"] = "exact") -> Floats:
    """Return an upper bound of (11) over all SRUs, packets.

    Parameters
    ----------
    path
        Where.
    form
        In print appendix A has 3·B. That is loose: case (a) of (9) has windows of 4 at least, and
        ⌈B/n⌉·n < B + n ≤ 1.25 B there, so that Q_max < 1.5·B (and a packet for the fraction of B);
        case (b) gives 8·⌈B/4⌉ - ⌈B⌉, which is 2·B just above B = 8 and 15/9 from B = 9 on. And it
        is wrong below B = 2, where case (b) gives 7 packets. "exact" is the greater of the cases.
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
    """Return the bit/s of background datagrams, None where there is other traffic."""
    rates = question.point.facts["background_rates_bps"]
    return None if None in rates else sum(rate or 0.0 for rate in rates)
