"""The first burst of a synchronised read, and whether it fits into the buffer at the client's port.

Every server sends w segments back to back, and all servers start at the same moment. While a
server's link sends one packet, the client's link sends r = client_rate / server_rate packets. When
the k-th packet of each server has arrived, n·k packets have arrived, and 1 + ⌊r·(k - 1)⌋ of these
packets have left or are leaving. At the peak therefore

    n·w - 1 - ⌊min(r, n)·(w - 1)⌋

packets wait, which is (n - 1)·w if all links have the same rate. Packets that exceed the buffer B
are lost.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from incast.models.numbers import Floats, floats, together
from incast.models.registry import Answer, NotApplicable, Question


def peak(servers: ArrayLike, window: ArrayLike, rate_ratio: ArrayLike = 1.0) -> Floats:
    """Return how many packets wait at the peak of the burst, without the packet in service.

    Parameters
    ----------
    servers
        n, at least 1.
    window
        w, segments per server, at least 1.
    rate_ratio
        r, the rate of the client's link divided by the rate of a server's link.

    Returns
    -------
    array of the broadcast shape, packets
        The occupancy of an unlimited buffer. The number is exact if all packets have one size, the
        first bits of all servers arrive together, and a packet that leaves frees its place for a
        packet that arrives at the same instant. If the servers start at different times, the number
        is an upper bound.
    """
    servers, window, ratio = together(servers, window, rate_ratio)
    # Rounding errors must not make a product such as 0.1 · 10 less than a whole packet.
    left = np.floor(np.minimum(ratio, servers) * (window - 1) * (1 + 1e-12))
    return floats(servers * window - 1 - left)


def lost(
    servers: ArrayLike, window: ArrayLike, places: ArrayLike, rate_ratio: ArrayLike = 1.0
) -> Floats:
    """Return how many packets of the burst are lost because all `places` are taken."""
    return floats(np.maximum(peak(servers, window, rate_ratio) - floats(places), 0.0))


def safe_servers(places: ArrayLike, window: ArrayLike, rate_ratio: ArrayLike = 1.0) -> Floats:
    """Return the largest n whose burst fits into `places`: ⌊B/w⌋ + 1 if all rates are equal.

    If the client's link is faster than all servers' links together, only the first packets of the
    servers have to wait.
    """
    places, window, ratio = together(places, window, rate_ratio)
    left = np.floor(ratio * (window - 1) * (1 + 1e-12))
    fits = np.floor((places + 1 + left) / window)
    # With fewer servers than the ratio, the peak is n - 1.
    return floats(np.where(fits < ratio, np.minimum(places + 1, np.ceil(ratio) - 1), fits))


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer questions about the first burst of a barrier read."""
    answers: list[Answer] = []
    for question in questions:
        reason = _refusal(question)
        if reason:
            answers.append(NotApplicable(reason))
            continue
        point = question.point
        window, places = point.window(1) // point.servers, point.buffer_places
        ratio = point.line_rate / point.server_rate
        answers.append(
            {
                "overflow.burst_packets": float(point.servers * window),
                "overflow.peak_packets": float(peak(point.servers, window, ratio)),
                "overflow.lost_packets": float(lost(point.servers, window, places, ratio)),
                "overflow.safe_servers": float(safe_servers(places, window, ratio)),
            }
        )
    return answers


# Remedies that change neither the first window nor the order in which servers are asked.
_HARMLESS = {"fine-rto", "prob-rtx"}


def _refusal(question: Question) -> str | None:
    network, transport = question.point.tree["network"], question.point.tree["transport"]
    if not question.point.reads:
        return "the workload must be a read, not long flows"
    if question.point.topology != "star":
        return f"the topology must be 'star', not {question.point.topology!r}"
    if network["queue"]["name"] != "drop-tail":
        return f"the queue must be 'drop-tail', not {network['queue']['name']!r}"
    control = transport["congestion_control"]["name"]
    if transport["pacing"] or control in {"bbr", "swift"}:
        return "the first window is paced"
    others = [remedy["name"] for remedy in transport["remedies"]]
    changing = [name for name in others if name not in _HARMLESS]
    return f"{changing[0]!r} changes the first window" if changing else None
