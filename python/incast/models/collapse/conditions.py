"""The scenarios to which the model applies, and the reasons for the others."""

from collections.abc import Iterator
from typing import Any

from incast.models.collapse.stacks import IDLE
from incast.models.registry import Question
from incast.scenario.resolved import Resolved

MOST_SERVERS = 1024
"""The model has been tested up to this number of servers."""

_HARMLESS = {"fine-rto"}
_PLAIN: dict[str, tuple[Any, ...]] = {
    "pacing": (False,),
    "segmentation_offload": ("off",),
    "receive_offload": (False,),
    "early_retransmit": ("off",),
    "rto_jitter": (0, 0.0),
    "rto_backs_off_in_recovery": (False,),
    "dupack_threshold": (3,),
    "idle_restart": IDLE,
}
"""Keys of the transport, and the values that the model supports."""


def refusal(question: Question) -> str | None:
    """Return why the model does not apply to a scenario, or None."""
    point = question.point
    return next((why for fits, why in _conditions(point) if not fits), None)


def _conditions(point: Resolved) -> Iterator[tuple[bool, str]]:
    """Yield whether each condition holds, and the reason if it does not."""
    network = point.tree["network"]
    topology, queue = point.topology, network["queue"]["name"]
    yield topology == "star", f"the topology must be 'star', not {topology!r}"
    yield queue == "drop-tail", f"the queue must be 'drop-tail', not {queue!r}"
    own = not isinstance(network["buffer"], dict)
    yield own, "the port must have its own buffer, not a shared one"
    exact = network["clock_noise"] in {"0s", 0}
    yield exact, "network.clock_noise must be 0"
    yield not point.tree["background"], "there must be no background traffic"
    yield from _of_workload(point.workload, point)
    yield from _of_transport(point.tree["transport"])


def _of_workload(workload: dict[str, Any], point: Resolved) -> Iterator[tuple[bool, str]]:
    name = workload["name"]
    yield name == "barrier-read", f"the workload must be 'barrier-read', not {name!r}"
    yield workload.get("blocks") is not None, "workload.blocks must be given, not a duration"
    yield workload.get("sru") is not None, "workload.sru must be given, not the size of a block"
    all_ = workload.get("active", workload["servers"]) == workload["servers"]
    yield all_, "all servers must take part in every block (active)"
    at_once = workload.get("interval", "0s") == "0s"
    yield at_once, "each block must follow the one before, without an interval"
    together = point.facts["request_spread_s"] == 0 and workload.get("handshakes") != "before"
    yield together, "a connection must be opened with its request (handshakes, request_spread)"
    small = int(workload.get("request_size", 0)) <= point.packet - point.mss
    yield small, "a request must fit into a header (request_size)"
    yield point.servers <= MOST_SERVERS, f"there must be at most {MOST_SERVERS} servers"


def _of_transport(transport: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    control, recovery = transport["congestion_control"], transport["recovery"]
    names = (control["name"], recovery["name"])
    supported = {("reno", "newreno"), ("reno", "sack"), ("cubic", "rack-tlp")}
    yield (
        names in supported,
        f"the transport must be NewReno or SACK, not {names[0]!r} with {names[1]!r}",
    )
    remedies = [remedy["name"] for remedy in transport["remedies"]]
    changing = [name for name in remedies if name not in _HARMLESS]
    yield not changing, f"{', '.join(changing)} changes what happens after a loss"
    for key, values in _PLAIN.items():
        yield (
            transport[key] in values,
            f"transport.{key} = {_text(transport[key])} is not supported",
        )
    if control["name"] == "reno":
        counts = control["byte_counting"]
        yield not counts, "windows must grow by ACKs, not by bytes (byte_counting)"
        watched = control["hystart"]["name"] != "off"
        yield not watched, "slow start must be without hystart, except in Linux's CUBIC"
        for key in ("prr", "undo"):
            yield transport[key] in {"off", "none"}, f"transport.{key} is not supported"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


LOSES = "{control} with {recovery} is supported for reads without losses, and this read has losses"
"""The reason for a read with losses that the model cannot repair."""


def of_losses(point: Resolved) -> str:
    """Return why a read has no answer after a loss."""
    transport = point.tree["transport"]
    control, recovery = transport["congestion_control"]["name"], transport["recovery"]["name"]
    return LOSES.format(control=control.upper(), recovery=recovery.upper())
