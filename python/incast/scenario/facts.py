"""A resolved scenario in a few words, for headings."""

from collections.abc import Collection

from incast import units
from incast.scenario.resolved import Resolved


def words(here: Resolved, leave_out: Collection[str] = ()) -> str:
    """Name what decides the result, but for the keys to `leave_out` (those that are swept)."""
    told = {
        "network.rate": units.rate(here.line_rate),
        "network.buffer": f"buffer {here.buffer}",
        "workload.servers": units.plural(here.servers, "server"),
        "workload.sru": f"SRU {units.size(here.sru)}" if here.reads else "long flows",
        "transport.name": here.transport,
        "transport.rto_min": f"RTO min {units.time(here.rto_min)}",
    }
    return ", ".join(fact for key, fact in told.items() if key not in leave_out)
