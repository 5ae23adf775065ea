"""Ceph: a client has operations in flight at many OSDs.

Source: Ceph's options of clients. `objecter_inflight_ops` (1024 by default) bounds the operations
that a client has in flight at all OSDs together.
"""

from incast.advise.apps.app import App, Throttle, at_once
from incast.advise.shell import ceph
from incast.advise.words import Words


def _limit(count: int) -> Words:
    return ceph("objecter_inflight_ops", count)


APP = App(
    "ceph",
    _limit,
    {
        "objecter_inflight_ops": Throttle(
            "operations that a client has in flight, each at one OSD", at_once
        )
    },
)
