"""Keep or shrink the window of a connection that was idle."""

from collections.abc import Iterator

from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import sysctl


def fixes(case: Case) -> Iterator[Fix]:
    """Yield the opposite of the present setting, if connections are persistent."""
    if not case.reads or case.here.fresh:
        return
    restarts = case.transport["idle_restart"] != "none"
    words = sysctl({"net.ipv4.tcp_slow_start_after_idle": "0" if restarts else "1"})
    yield Fix(
        name=f"slow start after idle {'off' if restarts else 'on'}",
        who=Who.SERVERS,
        what="Keep the window of a connection that was idle."
        if restarts
        else "Shrink the window of a connection that was idle.",
        changes={"transport.idle_restart": "none" if restarts else "2861"},
        text=words.text,
        rollback=words.rollback,
        price="None, as long as pauses are short.",
        risk="After a pause, all servers send full windows into the buffer at once."
        if restarts
        else "Each block after a pause begins slowly.",
        effort=1,
    )
