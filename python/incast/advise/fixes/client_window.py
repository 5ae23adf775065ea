"""Bound the receive window towards the servers at the client's host."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.words import route

LEAST, MOST = 2, 64  # segments
_FOR_DUPLICATES = 4  # segments: fewer make no three duplicate ACKs


def fixes(case: Case) -> Iterator[Fix]:
    """Yield windows around the share that a server has of path and buffer."""
    fair = max(case.room // max(case.here.flows, 1), LEAST)
    for window in sorted({LEAST, _FOR_DUPLICATES, fair, min(2 * fair, MOST)}):
        if window < case.here.window_limit and window <= MOST:
            yield _fix(case, window)


def _fix(case: Case, window: int) -> Fix:
    size = window * case.here.mss
    words = route(f"window {size}", "SERVER")
    return Fix(
        name=f"receive window of {window} segments",
        who=Who.CLIENT,
        what=f"Let each server have at most {size} bytes under way to this host.",
        changes={"transport.receive_window": f"{window}seg"},
        text=words.text,
        rollback=words.rollback,
        price="A single transfer over this route is limited to a window per round trip.",
        risk="It counts for new connections only. With windows below four segments, a loss "
        "needs a timeout.",
        effort=1 if window >= _FOR_DUPLICATES else 2,
    )
