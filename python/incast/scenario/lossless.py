"""What a workload gives where nothing is lost: the measure of a collapse."""

from math import ceil, inf, log2

from incast.scenario.resolved import Resolved


def lossless_goodput(here: Resolved) -> float:
    """Return the goodput in bit/s that the workload of a scenario gives without losses.

    Of a read: its bits over `lossless_s`, and no more than what is asked for. Of long flows: what
    the links and the receive windows allow.
    """
    links = _links(here) * here.mss / _wire(here)
    if not here.reads:
        return min(links, here.flows * here.receive_window * here.mss * 8 / here.base_rtt)
    return min(block_bits(here) / lossless_s(here), here.demand)


def block_bits(here: Resolved) -> float:
    """Return the application bits of a block."""
    return here.servers * here.sru * 8.0


def lossless_s(here: Resolved) -> float:
    """Return the mean seconds of a block in which nothing is lost.

    The bottleneck's time for the data, the requests' or the windows', whichever is longest, and a
    round trip. Where connections open, a handshake comes before, and the links idle for as long as
    the windows of all servers, which double, do not fill the path.
    """
    segments = ceil(here.sru / here.mss)
    sent = (here.sru + segments * (_wire(here) - here.mss)) * 8.0
    own, work = sent / here.server_rate, here.servers * sent / _links(here)
    asking = (here.servers - 1) * here.request_jitter / 2 + own
    windows = segments / min(here.receive_window, segments) * here.base_rtt
    busy = max(work, asking, windows if segments > here.receive_window else 0.0)
    return busy + here.base_rtt + _opening(here, segments, alone=asking >= work)


def _opening(here: Resolved, segments: int, *, alone: bool) -> float:
    """Return the seconds that opening connections costs a block on average."""
    workload, transport = here.tree["workload"], here.tree["transport"]
    blocks = 1 if here.fresh else workload.get("blocks")
    if blocks is None:  # a run so long that its beginning does not matter
        return 0.0
    trip, packet_s = here.base_rtt, _wire(here) * 8 / _links(here)
    initial = max(here.window(1) // here.servers, 1)
    rounds = ceil(log2(segments / initial + 1))
    if alone:
        ramp = (rounds - 1) * trip
    else:
        together = here.servers * initial * packet_s
        idle = min(ceil(log2(trip / together)), rounds) if together < trip else 0
        ramp = idle * trip - together * (2.0**idle - 1)
    shakes = transport["handshake"] == "three-way" or (
        transport["handshake"] == "syn-only" and transport["opener"] == "server"
    )
    return (bool(shakes) * trip + ramp) / int(blocks)


def _links(here: Resolved) -> float:
    """Return what the narrower of the clients' and the servers' links carry, in bit/s."""
    rates = [here.limit, here.servers * here.server_rate]
    return min(rate for rate in rates if rate < inf)


def _wire(here: Resolved) -> int:
    """Return the bytes of a full packet on the wire."""
    return here.packet + int(here.tree["network"]["layer2_overhead"])
