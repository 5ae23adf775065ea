"""The scenarios to which the model applies, and the reasons why it refuses other scenarios."""

from collections.abc import Iterator
from typing import Any

from incast.models.collapse.stacks import IDLE, REPAIRS, UNDOS
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
    "prr": ("off", "linux"),
    "undo": UNDOS,
    "timer_phase": ("own",),
}
"""Keys of the transport, and the values that the model supports."""

QUEUES = ("drop-tail", "ecn-threshold")
CONTROLS = ("reno", "cubic", "dctcp", "bbr")

_TRAIN = {"min_thresh": "0.004s", "samples": 8, "low_window": 16, "ack_spacing": "0.002s"}
_HYSTART: dict[str, list[dict[str, Any]]] = {
    "off": [{}],
    "rfc9406": [
        {
            "min_thresh": "0.004s",
            "max_thresh": "0.016s",
            "divisor": 8,
            "samples": 8,
            "css_divisor": 4,
            "css_rounds": 5,
            "limit": 8,
        }
    ],
    "linux": [
        _TRAIN
        | {
            "max_thresh": "0.016s",
            "divisor": 8,
            "train_divisor": 2,
            "offload_allowance": "0.001s",
        },
        _TRAIN | {"max_thresh": "1s", "divisor": 1, "train_divisor": 1, "offload_allowance": "0s"},
    ],
}
_RACK: dict[str, list[dict[str, Any]]] = {
    "rack-tlp": [
        {
            "reordering_divisor": 4,
            "dupack_threshold": True,
            "dsack_adaptation": True,
            "dsack_persistence": 16,
            "probe_rtts": 2,
        }
    ]
}
"""Parameters of hystart and RACK-TLP that are constants in the model."""


def refusal(question: Question) -> str | None:
    """Return why the model does not apply to a scenario, or None if the model applies."""
    point = question.point
    return next((why for fits, why in _conditions(point) if not fits), None)


def _conditions(point: Resolved) -> Iterator[tuple[bool, str]]:
    """Yield pairs: whether a condition holds, and the reason for a refusal if it does not."""
    network = point.tree["network"]
    topology, queue = point.topology, network["queue"]["name"]
    yield topology == "star", f"the topology must be 'star', not {topology!r}"
    yield queue in QUEUES, f"the queue must be 'drop-tail' or 'ecn-threshold', not {queue!r}"
    if queue == "ecn-threshold":
        threshold = str(network["queue"]["threshold"])
        yield "%" not in threshold, "the marking threshold must be in packets or bytes"
        strict = network["queue"]["drop_non_ect"]
        yield not strict, "packets without ECN must not be dropped at the threshold (drop_non_ect)"
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
    yield at_once, "each block must follow the previous block without an interval"
    together = point.facts["request_spread_s"] == 0 and workload.get("handshakes") != "before"
    yield together, "a connection must be opened with its request (handshakes, request_spread)"
    delayed = point.tree["transport"]["delayed_ack"]
    kept = workload.get("connections") == "persistent" and int(workload["blocks"] or 0) > 1
    answers = kept and isinstance(delayed, dict) and delayed["pingpong"]
    yield not answers, "delayed_ack.pingpong is not supported on connections with several requests"
    small = int(workload.get("request_size", 0)) <= point.packet - point.mss
    yield small, "a request must not be larger than a packet's headers (request_size)"
    yield point.servers <= MOST_SERVERS, f"there must be at most {MOST_SERVERS} servers"


def _of_transport(transport: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    control, recovery = transport["congestion_control"], transport["recovery"]
    name = control["name"]
    yield name in CONTROLS, f"the congestion control {name!r} is not supported"
    yield recovery["name"] in REPAIRS, f"the recovery {recovery['name']!r} is not supported"
    # For BBR, the model counts outstanding data, but the simulator counts the pipe.
    yield name != "bbr", "BBR is not supported"
    remedies = [remedy["name"] for remedy in transport["remedies"]]
    changing = [name for name in remedies if name not in _HARMLESS]
    yield not changing, f"remedies are not supported: {', '.join(changing)}"
    for key, values in _PLAIN.items():
        yield (
            transport[key] in values,
            f"transport.{key} = {_text(transport[key])} is not supported",
        )
    ecn = "on" if name == "dctcp" else "off"
    yield transport["ecn"] == ecn, f"ECN must be {ecn} with the congestion control {name!r}"
    if name == "dctcp":
        covered = transport["ecn_packets"] in {"data", "all"}
        yield covered, "all data packets must be ECN-capable (ecn_packets)"
        known = control["react_at"] != "every-ece" and control["ce_change"] == "two-acks"
        yield (
            known,
            "DCTCP must not have react_at = 'every-ece', and must have ce_change = 'two-acks'",
        )
    reduces, is_linux = transport["prr"] != "off", recovery.get("partial_acks") == "reduced"
    yield (
        is_linux == reduces or recovery["name"] != "newreno",
        "NewReno's partial_acks must be 'reduced' with prr, and must not be 'reduced' without prr",
    )
    limit = control.get("slow_start_limit", 1)
    counts = control.get("byte_counting", False)
    yield not counts or limit in {0, 1}, f"slow_start_limit = {limit} is not supported"
    hystart = control.get("hystart", {"name": "off"})
    is_watched = name != "cubic" and hystart["name"] != "off"
    yield not is_watched, "hystart is supported only with CUBIC"
    yield from _of_parts(_HYSTART, hystart, "congestion_control.hystart")
    if recovery["name"] == "rack-tlp":
        yield transport["dsack"], "RACK-TLP is supported only with dsack"
        checks = recovery["timestamp_check"] and transport["timestamps"]
        yield not checks, "RACK-TLP must not check timestamps (timestamp_check)"
        yield from _of_parts(_RACK, {"name": "rack-tlp", **recovery}, "recovery")


def _of_parts(
    known: dict[str, list[dict[str, Any]]], given: dict[str, Any], where: str
) -> Iterator[tuple[bool, str]]:
    """Yield a refusal if the parameters of a part are not those of a known stack."""
    for one in known[given["name"]]:
        if all(given[key] == value for key, value in one.items()):
            return
    keys = [key for key, value in known[given["name"]][0].items() if given[key] != value]
    other = ", ".join(keys)
    yield False, f"transport.{where}: {other} must be as in a profile"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
