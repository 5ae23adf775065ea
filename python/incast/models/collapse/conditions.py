"""To which scenarios the model applies, and why not to others."""

from collections.abc import Iterator
from typing import Any

from incast.models.collapse.stacks import IDLE
from incast.models.registry import Question
from incast.scenario.resolved import Resolved

MOST_SERVERS = 1024
"""Servers up to which it has been tried."""

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
"""Keys of the transport, and the values that are played."""


def refusal(question: Question) -> str | None:
    """Return why the model knows nothing of a scenario, or None."""
    point = question.point
    return next((why for fits, why in _conditions(point) if not fits), None)


def _conditions(point: Resolved) -> Iterator[tuple[bool, str]]:
    """Yield what must hold, and what to say where it does not."""
    network = point.tree["network"]
    topology, queue = point.topology, network["queue"]["name"]
    yield topology == "star", f"it knows the star, not the topology {topology!r}"
    yield queue == "drop-tail", f"it knows drop-tail, not the queue {queue!r}"
    own = not isinstance(network["buffer"], dict)
    yield own, "it knows a buffer of the port's own, not a shared one"
    exact = network["clock_noise"] in {"0s", 0}
    yield exact, "it knows clocks without noise, not network.clock_noise"
    yield not point.tree["background"], "it knows no background traffic"
    yield from _of_workload(point.tree["workload"], point)
    yield from _of_transport(point.tree["transport"])


def _of_workload(workload: dict[str, Any], point: Resolved) -> Iterator[tuple[bool, str]]:
    name = workload["name"]
    yield name == "barrier-read", f"it knows barrier reads, not the workload {name!r}"
    yield workload.get("blocks") is not None, "it needs a number of blocks, not a duration"
    yield workload.get("sru") is not None, "it needs an SRU, not a block that is shared out"
    all_ = workload.get("active", workload["servers"]) == workload["servers"]
    yield all_, "it knows reads from all servers, not from some that are drawn (active)"
    at_once = workload.get("interval", "0s") == "0s"
    yield at_once, "it knows blocks one after the other, not at random times (interval)"
    small = int(workload.get("request_size", 0)) <= point.packet - point.mss
    yield small, "it knows requests of a header, not a request_size"
    yield point.servers <= MOST_SERVERS, f"it knows up to {MOST_SERVERS} servers"


def _of_transport(transport: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    control, recovery = transport["congestion_control"], transport["recovery"]
    names = (control["name"], recovery["name"])
    played = {("reno", "newreno"), ("reno", "sack"), ("cubic", "rack-tlp")}
    yield names in played, f"it knows NewReno and SACK, not {names[0]!r} with {names[1]!r}"
    remedies = [remedy["name"] for remedy in transport["remedies"]]
    changing = [name for name in remedies if name not in _HARMLESS]
    yield not changing, f"{', '.join(changing)} changes what happens after a loss"
    for key, values in _PLAIN.items():
        yield (
            transport[key] in values,
            f"it knows transports without {key} = {_text(transport[key])}",
        )
    if control["name"] == "reno":
        counts = control["byte_counting"]
        yield not counts, "it knows windows that grow by ACKs, not by bytes (byte_counting)"
        watched = control["hystart"]["name"] != "off"
        yield not watched, "it knows slow start without hystart, but for Linux's CUBIC"
        for key in ("prr", "undo"):
            yield transport[key] in {"off", "none"}, f"it knows recoveries without {key}"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


LOSES = "with {control} over {recovery} it knows reads that lose nothing, and this one loses"
"""What it says of a read that loses something that it does not know how to repair."""


def of_losses(point: Resolved) -> str:
    """Return why a read that was followed up to a loss has no answer."""
    transport = point.tree["transport"]
    control, recovery = transport["congestion_control"]["name"], transport["recovery"]["name"]
    return LOSES.format(control=control.upper(), recovery=recovery.upper())
