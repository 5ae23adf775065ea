"""A scenario's Poisson datagrams at the switch port to the client: M/G/1/K asked by a registry."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from incast.models.registry import Answer, NotApplicable

from .service import Empirical
from .single import MG1K
from .sizing import smallest_buffer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incast.models.registry import Question
    from incast.scenario.resolved import Resolved

NAME = "edge-queue"
SAFE_LOSS = 1e-6
"""What `safe_places` allows to be lost."""
UNSHAPED = 10
"""Sum of the sources' link rates over the client's, from which on they shape no arrivals."""


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer what the datagrams alone do to the port: what a read finds there."""
    return [_answer(question.point) for question in questions]


def _answer(point: Resolved) -> Answer:
    queue = port(point)
    if isinstance(queue, NotApplicable):
        return queue
    try:
        found = {
            "load": queue.load,
            "loss": queue.blocking,
            "mean_waiting": queue.mean_waiting,
            "utilization": 1 - float(queue.pmf[0]),
        }
    except ValueError as error:
        return NotApplicable(str(error))
    # No buffer is safe where the datagrams alone are more than the link carries.
    with suppress(ValueError):
        found["safe_places"] = float(smallest_buffer(queue, SAFE_LOSS))
    return {f"{NAME}.{name}": value for name, value in found.items()}


def port(point: Resolved) -> MG1K | NotApplicable:
    """Return the switch port to the client as the scenario's datagrams see it, or why not."""
    network = point.tree["network"]
    background = [it for it in point.tree.get("background", []) if _sends(it)]
    counts = [point.servers if it.get("from") == "servers" else 1 for it in background]
    reason = _network_refusal(point, sum(counts)) or _traffic_refusal(point, background)
    if reason:
        return NotApplicable(reason)
    sizes = [int(it["packet_size"]) for it in background]
    rates = [
        count * float(it["rate"].removesuffix("bps")) / 8 / size
        for count, it, size in zip(counts, background, sizes, strict=True)
    ]
    overhead = int(network["layer2_overhead"])
    times = [(size + overhead) * 8 / point.line_rate for size in sizes]
    places = _places(point, sizes[0])
    total = sum(rates)
    return MG1K(total, Empirical(times, [rate / total for rate in rates]), max(places, 0) + 1)


def _network_refusal(point: Resolved, sources: int) -> str | None:
    network = point.tree["network"]
    if point.topology != "star":
        return f"the topology must be 'star', not {point.topology!r}"
    if network["queue"]["name"] != "drop-tail":
        return f"the queue must be 'drop-tail', not {network['queue']['name']!r}"
    if 0 < sources * point.server_rate < UNSHAPED * point.line_rate:
        return (
            f"the links of {sources} sources limit the arrivals; together they must have "
            f"{UNSHAPED} times the client's rate"
        )
    return None


def _traffic_refusal(point: Resolved, background: Sequence[dict[str, Any]]) -> str | None:
    others = sorted({it["name"] for it in background} - {"poisson"})
    if others:
        return f"{' and '.join(others)} traffic is not a Poisson stream"
    if not background:
        return "there are no Poisson datagrams"
    if len({int(it["packet_size"]) for it in background}) > 1 and not point.counts_packets:
        return "the buffer is counted in bytes, and the datagrams differ in size"
    return None


def _sends(background: dict[str, Any]) -> bool:
    return "rate" not in background or float(background["rate"].removesuffix("bps")) > 0


def _places(point: Resolved, size: int) -> int:
    """Return how many datagrams of a size may wait, beside the one in service."""
    if point.counts_packets:
        return point.buffer_places
    network = point.tree["network"]
    cell = int(network["buffer_cell"])
    cells = -(-(size + int(network["buffer_packet_overhead"])) // cell)
    return point.buffer_bytes // (cells * cell) - bool(network["buffer_counts_in_service"])
