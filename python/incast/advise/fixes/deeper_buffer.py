"""Give the port to the client more buffer."""

from collections.abc import Iterator
from math import ceil, log2

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sonic
from incast.models.overflow import peak

PROFILE = "egress_lossy_profile"
"""The profile of lossy egress queues in the templates of SONiC."""
_SHOWN = "`show buffer configuration` shows the profiles."
LEAST_EXPONENT, MOST_EXPONENT = -7, 3
"""Exponents of dynamic thresholds that switches commonly accept: alpha = 2^exponent."""
_TIMES = (2, 4)
_FARTHEST = 16  # times the present alpha
_MOST = 64 << 20
"""The largest buffer that is proposed, in bytes.

Few switches have more memory than this for all their ports together.
"""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield larger buffers, up to one that holds the burst.

    If ports share the buffer, the fix is a larger alpha. Otherwise the fixes are buffers of two and
    four times the present size, a buffer that holds the first windows of all servers and, if
    connections are kept, a buffer that holds the largest windows of all servers.
    """
    dynamic = case.here.dynamic
    if dynamic is not None:
        yield from _alphas(case, *dynamic)
        return
    for times in _TIMES:
        packets, size = times * case.here.buffer_packets, times * case.here.buffer_bytes
        yield _larger(case, f"{times} times the buffer", packets, size)
    for packets in bursts(case):
        if packets > case.here.buffer_packets and _bytes(case, packets) <= _MOST:
            name = f"a buffer of {packets} packets"
            yield _larger(case, name, packets, _bytes(case, packets))


def bursts(case: Case) -> list[int]:
    """Return the sizes of buffers that no burst overflows, in packets and without repeats.

    The sizes are those of `incast model` (`overflow`). If the buffer counts the packet in service,
    this packet is added. If each block opens and closes its connections, one packet without data
    is added per server.
    """
    here = case.here
    if not case.reads:
        return []
    windows = {min(here.initial_window, here.window_limit)}
    if not here.fresh:
        windows.add(here.window_limit)
    more = here.buffer_packets - here.buffer_places
    if here.fresh:
        header = int(here.tree["transport"]["header_size"])
        more += here.servers if here.counts_packets else ceil(here.servers * header / here.packet)
    ratio = here.line_rate / here.server_rate
    return sorted({ceil(float(peak(here.servers, one, ratio))) + more for one in windows})


def _bytes(case: Case, packets: int) -> int:
    """Return the size of a buffer that holds this number of packets."""
    here = case.here
    most = here.buffer_bytes / max(here.buffer_packets, 1)
    least = here.buffer_bytes / (here.buffer_packets + 1)
    # In a switch that counts cells or layer-2 bytes, a packet occupies more than its size.
    return packets * (here.packet if least < here.packet <= most else ceil(most))


def _alphas(case: Case, total: int, alpha: float) -> Iterator[Fix]:
    enough = [_exponent(case, total, packets) for packets in bursts(case)]
    for exponent in range(LEAST_EXPONENT, MOST_EXPONENT + 1):
        if 2.0**exponent <= alpha:
            continue
        if 2.0**exponent > _FARTHEST * alpha and exponent not in enough:
            continue
        buffer = dict(case.here.tree["network"]["buffer"], alpha=f"2^{exponent}")
        words = sonic({"BUFFER_PROFILE": {PROFILE: {"dynamic_th": str(exponent)}}})
        yield Fix(
            name=f"alpha 2^{exponent}",
            who=Who.SWITCH,
            what=f"Let a queue grow to 2^{exponent} times the free part of the shared "
            f"buffer of {units.size(total)}.",
            changes={"network.buffer": buffer},
            text=words.text,
            rollback=words.rollback,
            price="Other ports have less memory when this port is full. Longer queues delay other "
            "traffic.",
            risk=f"The profile {PROFILE} may have another name on your switch. {_SHOWN}",
            effort=0,
        )


def _exponent(case: Case, total: int, packets: int) -> int:
    """Return the smallest exponent with which a single port may hold this number of packets."""
    share = packets / total if case.here.counts_packets else _bytes(case, packets) / total
    if share >= 1:
        return MOST_EXPONENT + 1
    return max(ceil(log2(share / (1 - share))), LEAST_EXPONENT)


def _larger(case: Case, name: str, packets: int, size: int) -> Fix:
    here = case.here
    factor = packets / here.buffer_packets if here.counts_packets else size / here.buffer_bytes
    words = sonic({"BUFFER_PROFILE": {PROFILE: {"static_th": str(size)}}})
    return Fix(
        name=name,
        who=Who.SWITCH,
        what=f"Give the port to the client {units.size(size)} of buffer "
        f"({units.plural(packets, 'packet')}).",
        changes={"network.buffer": case.buffer_times(factor)},
        text=words.text,
        rollback=words.rollback,
        price="Longer queues delay other traffic to this port. Other ports have less memory.",
        risk="The switch must have this memory. If the mode of the pool is dynamic, its profiles "
        f"have dynamic_th in place of static_th. The profile may have another name. {_SHOWN}",
        effort=ceil(packets / here.buffer_packets),
    )
