"""Mark packets in the switch: with DCTCP, or with ECN and the congestion control in use."""

from collections.abc import Iterator
from math import ceil

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sonic, sysctl
from incast.advise.words import HOSTS, SWITCH, Words, at, both

PROFILE = "INCAST_ECN"
_LEAST = 2  # packets: the smallest threshold
_WINDOW = 2  # segments: the smallest window after a mark
_AT_1_GBPS = 20  # packets: K of Alizadeh et al. 2010, §3.4, at 1 Gbps; K is 65 at 10 Gbps


def fixes(case: Case) -> Iterator[Fix]:
    """Yield DCTCP at each of two thresholds, and ECN without DCTCP at one threshold."""
    if case.transport["ecn"] == "on" or _WINDOW * case.here.flows > case.room:
        return  # marks cannot make windows smaller than two segments
    least, usual = _thresholds(case)
    for threshold in sorted({least, usual}):
        yield _dctcp(case, threshold)
    yield _ecn(case, usual)


def _thresholds(case: Case) -> tuple[int, int]:
    """Return C·RTT/7, the least threshold that keeps a link busy, and the usual K, in packets."""
    here = case.here
    most = max(here.buffer_packets // 2, _LEAST)
    path = here.line_rate * here.base_rtt / 8 / here.packet
    usual = ceil(_AT_1_GBPS * max(here.line_rate / 1e9, 0.5) ** 0.5)
    return min(max(ceil(path / 7), _LEAST), most), min(max(usual, _LEAST), most)


def switch_words(threshold: int) -> Words:
    """Return commands for a WRED profile that marks all packets beyond a threshold in bytes."""
    levels = {
        f"{colour}_{end}_threshold": str(threshold)
        for colour in ("green", "yellow", "red")
        for end in ("min", "max")
    }
    enabled = {f"wred_{colour}_enable": "true" for colour in ("green", "yellow", "red")}
    certain = {f"{colour}_drop_probability": "100" for colour in ("green", "yellow", "red")}
    profile = {"ecn": "ecn_all", **enabled, **levels, **certain}
    tables = {
        "WRED_PROFILE": {PROFILE: profile},
        "QUEUE": {"Ethernet0|0": {"wred_profile": PROFILE}},
    }
    return sonic(tables)


def _queue(threshold: int) -> dict[str, object]:
    return {"name": "ecn-threshold", "threshold": f"{threshold}pkt"}


def _dctcp(case: Case, threshold: int) -> Fix:
    size = threshold * case.here.packet
    hosts = sysctl({"net.ipv4.tcp_congestion_control": "dctcp", "net.ipv4.tcp_ecn": "1"})
    hosts = Words(f"modprobe tcp_dctcp\n{hosts.text}", hosts.rollback)
    words = both(at(SWITCH, switch_words(size)), at(HOSTS, hosts))
    return Fix(
        name=f"DCTCP, marks from {threshold} packets",
        who=Who.SWITCH,
        what=f"Mark packets beyond {size} bytes ({units.plural(threshold, 'packet')}) in the "
        "queue, and use DCTCP at both ends.",
        changes={
            "network.queue": _queue(threshold),
            "transport.congestion_control": "dctcp",
            "transport.ecn": None,
            "transport.ecn_packets": None,
        },
        text=words.text,
        rollback=words.rollback,
        price="Every host and the switch must change together. Traffic without ECN in the same "
        "queue is dropped at the threshold.",
        risk="Two segments per server must still fit into the buffer.",
        effort=1,
    )


def _ecn(case: Case, threshold: int) -> Fix:
    size = threshold * case.here.packet
    hosts = sysctl({"net.ipv4.tcp_ecn": "1"})
    words = both(at(SWITCH, switch_words(size)), at(HOSTS, hosts))
    return Fix(
        name=f"ECN, marks from {threshold} packets",
        who=Who.SWITCH,
        what=f"Mark packets beyond {size} bytes ({units.plural(threshold, 'packet')}) in the "
        "queue, and switch ECN on at both ends.",
        changes={"network.queue": _queue(threshold), "transport.ecn": "on"},
        text=words.text,
        rollback=words.rollback,
        price="Traffic without ECN in the same queue is dropped at the threshold.",
        risk="Two segments per server must still fit into the buffer.",
        effort=0,
    )
