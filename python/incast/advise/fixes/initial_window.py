"""A smaller initial window at the servers."""

from collections.abc import Iterator

from incast import units
from incast.advise.case import Case
from incast.advise.fixes.fix import Fix, Who
from incast.advise.shell import route


def fixes(case: Case) -> Iterator[Fix]:
    """Yield initial windows that are smaller than the present initial window."""
    for window in (1, 2, 4):
        if window < case.here.initial_window:
            words = route("initcwnd", str(window), "CLIENT")
            yield Fix(
                name=f"initcwnd {window}",
                who=Who.SERVERS,
                what=f"Start new connections with {units.plural(window, 'segment')}.",
                changes={"transport.initial_window": f"{window}seg"},
                text=words.text,
                rollback=words.rollback,
                price="Every new connection over this route needs more round trips, even on an "
                "idle path.",
                risk="Persistent connections are not affected, except after idle times.",
                effort=2,
            )
