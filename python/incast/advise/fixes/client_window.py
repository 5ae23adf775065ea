"""Limit the receive windows of the client's host."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sysctl

LEAST, MOST = 2, 64  # segments
_FOR_DUPLICATES = 4  # segments: smaller windows cannot cause three duplicate ACKs
_MEMORY = 2304
"""Bytes of memory that Linux counts for a segment in a buffer of 2 KiB, which most drivers use.
A window of N segments needs memory for N + 1 segments (measured: docs/validation/advised.md)."""


def fixes(case: Case) -> Iterator[Fix]:
    """Yield windows of two segments, four segments, a server's fair share, and twice this share."""
    fair = case.room // max(case.here.flows, 1)
    for window in sorted({LEAST, _FOR_DUPLICATES, fair, min(2 * fair, MOST)}):
        if LEAST <= window < case.here.window_limit and window <= MOST:
            yield _fix(case, window)


def _fix(case: Case, window: int) -> Fix:
    size = window * case.here.mss
    memory = (window + 1) * _MEMORY
    # `ip route … window` bounds only the first window: when the first full segment arrives, the
    # kernel computes the bound again from the memory (tcp_measure_rcv_mss, Linux 6.6 and newer).
    words = sysctl({"net.ipv4.tcp_rmem": f"4096 {memory} {memory}"})
    return Fix(
        name=f"receive window of {window} segments",
        who=Who.CLIENT,
        what=f"Limit each server to about {size} bytes in flight to this host.",
        changes={"transport.receive_window": f"{window}seg"},
        text=words.text,
        rollback=words.rollback,
        price="Every new connection of this host, to any server, is limited to one window per "
        "round trip.",
        risk="The memory of a segment depends on the driver: check with `ss -tin` on a server that "
        f"snd_wnd is about {size}. The limit applies to new connections only. With windows below "
        "four segments, every loss needs a timeout.",
        effort=1 if window >= _FOR_DUPLICATES else 2,
    )
