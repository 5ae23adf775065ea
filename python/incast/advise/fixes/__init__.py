"""The catalogue of fixes, each kind in a file of its own."""

from collections.abc import Callable, Iterator

from incast.advise.case import Case
from incast.advise.fixes import (
    bounded_answers,
    client_window,
    congestion_control,
    deeper_buffer,
    fewer_at_once,
    idle_windows,
    initial_window,
    kept_connections,
    marking,
    paced_servers,
    quick_acks,
    selective_acks,
    sets_in_turn,
    short_timer,
    smaller_requests,
    spread_requests,
    window_limit,
)
from incast.advise.fixes.fix import Fix, Who

__all__ = ["Fix", "Who", "catalogue"]

SOURCES: list[Callable[[Case], Iterator[Fix]]] = [
    fewer_at_once.fixes,
    bounded_answers.fixes,
    sets_in_turn.fixes,
    smaller_requests.fixes,
    kept_connections.fixes,
    spread_requests.fixes,
    client_window.fixes,
    quick_acks.fixes,
    short_timer.fixes,
    initial_window.fixes,
    window_limit.fixes,
    selective_acks.fixes,
    idle_windows.fixes,
    congestion_control.fixes,
    paced_servers.fixes,
    deeper_buffer.fixes,
    marking.fixes,
]
"""The functions that propose fixes for a case, one per kind of fix."""


def catalogue(case: Case) -> list[Fix]:
    """Return every fix that can be tried in a case."""
    return [fix for source in SOURCES for fix in source(case)]
