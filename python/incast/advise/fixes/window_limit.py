"""A limit of the congestion window on the servers' route to the clients."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import route
from incast.advise.words import Words

_FORGET = "ip tcp_metrics flush  # what the kernel has kept of this route"


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the share that a server has of path and buffer, if it is at least four segments."""
    fair = case.room // max(case.here.flows, 1)
    window = max(fair, 4)
    if window >= case.here.window_limit:
        return
    lock = route("cwnd", f"lock {window}", "CLIENT")
    # Connections learn of the bound from the table of metrics, which keeps it for an hour
    # (net/ipv4/tcp_metrics.c), and which a connection that ends fills.
    words = Words(f"{lock.text}\n{_FORGET}", f"{lock.rollback}\n{_FORGET}")
    yield Fix(
        name=f"cwnd at most {window}",
        who=Who.SERVERS,
        what=f"Let each connection to the clients have at most {units.plural(window, 'segment')} "
        "in flight.",
        changes={"transport.receive_window": f"{window}seg"},
        text=words.text,
        rollback=words.rollback,
        price="A single transfer over this route is limited to a window per round trip.",
        risk="The first connection to a client afterwards is not limited yet, nor is any with "
        "net.ipv4.tcp_no_metrics_save = 1. More servers need a smaller bound.",
        effort=3,
    )
