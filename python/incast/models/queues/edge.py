"""A scenario's Poisson datagrams at the switch port to the client, modelled as M/G/1/K."""

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
"""Share of the datagrams that may be lost with `safe_places`."""
UNSHAPED = 10
"""If the sources' links together are at least this many times as fast as the client's link, their
rate does not limit the arrivals."""


def answer(questions: Sequence[Question]) -> list[Answer]:
    """Answer for the datagrams alone: for the port while there is no read."""
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
    # No buffer is safe if the datagrams alone exceed the capacity of the link.
    with suppress(ValueError):
        found["safe_places"] = float(smallest_buffer(queue, SAFE_LOSS))
    return {f"{NAME}.{name}": value for name, value in found.items()}


def port(point: Resolved) -> MG1K | NotApplicable:
    """Return the queue of the scenario's datagrams at the port to the client, or a refusal."""
    network = point.tree["network"]
    tables = zip(
        point.tree["background"],
        point.facts["background_rates_bps"],
        point.facts["background_space_bytes"],
        strict=True,
    )
    sending = [(it, rate, space) for it, rate, space in tables if rate != 0]
    background = [it for it, _, _ in sending]
    counts = [
        point.servers if it.get("from") == "servers" else int(it.get("count", 1))
        for it in background
    ]
    reason = _network_refusal(point, sum(counts)) or _traffic_refusal(point, background)
    if reason:
        return NotApplicable(reason)
    sizes = [int(it["packet_size"]) for it in background]
    rates = [(rate or 0.0) / 8 / size for (_, rate, _), size in zip(sending, sizes, strict=True)]
    overhead = int(network["layer2_overhead"])
    times = [(size + overhead) * 8 / point.line_rate for size in sizes]
    places = _places(point, sending[0][2])
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
            f"the links of {sources} sources limit the arrivals; together they must be "
            f"{UNSHAPED} times as fast as the client's link"
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


def _places(point: Resolved, space: int | None) -> int:
    """Return how many datagrams of this size may wait, besides the datagram in service."""
    if point.counts_packets or space is None:
        return point.buffer_places
    counts_in_service = bool(point.tree["network"]["buffer_counts_in_service"])
    return point.buffer_bytes // space - counts_in_service
