"""Limit the congestion window on the servers' route to the clients."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import route
from incast.advise.words import Words

_FORGET = "ip tcp_metrics flush  # metrics that the kernel has stored"


def fixes(case: Case) -> Iterator[Fix]:
    """Yield a limit of one server's share of path and buffer, but of at least four segments."""
    fair = case.room // max(case.here.flows, 1)
    window = max(fair, 4)
    if window >= case.here.window_limit:
        return
    lock = route("cwnd", f"lock {window}", "CLIENT")
    # A connection takes the limit from the kernel's table of metrics (net/ipv4/tcp_metrics.c). The
    # kernel writes an entry to this table when a connection ends, and keeps it for an hour.
    words = Words(f"{lock.text}\n{_FORGET}", f"{lock.rollback}\n{_FORGET}")
    yield Fix(
        name=f"cwnd at most {window}",
        who=Who.SERVERS,
        what=f"Let each connection to the clients have at most {units.plural(window, 'segment')} "
        "in flight.",
        changes={"transport.receive_window": f"{window}seg"},
        text=words.text,
        rollback=words.rollback,
        price="A single transfer over this route is limited to one window per round trip.",
        risk="The first new connection to a client is not limited. If the kernel has "
        "net.ipv4.tcp_no_metrics_save = 1, no connection is limited. With more servers, the limit "
        "must be smaller.",
        effort=3,
    )
