"""NFS: a client has calls in flight at every server of a striped layout.

The client's slots limit the calls per server, and so the bytes per server, but not the number of
servers. Source: the kernel's documentation of NFS: `nfs.max_session_slots` (NFSv4.1, 64 by default)
and `sunrpc.tcp_max_slot_table_entries` (older versions).
"""

from incast.advise.apps.app import App, Bound, Throttle
from incast.scenario.resolved import Resolved

READ_SIZE = 1 << 20
"""Bytes of a call; this is the usual rsize of a mount."""


def _slots(count: int, _: Resolved) -> Bound:
    return Bound(answer=count * READ_SIZE)


APP = App(
    "nfs",
    None,
    {
        name: Throttle("calls of 1 MiB (rsize) in flight at each server", _slots)
        for name in ("nfs.max_session_slots", "sunrpc.tcp_max_slot_table_entries")
    },
)
