"""The marking threshold of a SONiC switch, for queues whose buffer profile the scenario uses.

Source: SONiC's Configuration.md. `BUFFER_QUEUE` names the buffer profile of queues, and `QUEUE`
names their WRED profile. A key is `port|queue`, `port|first-last` or, for several ports,
`a,b|queue`. Packets of TCP are green unless a policer colours them.
"""

from typing import Any

from incast import units
from incast.advise.readers.sonic_rows import (
    LARGEST,
    Queue,
    lossless_queues,
    number,
    queues,
    row_of,
    wrong,
)
from incast.advise.readers.taken import Taken
from incast.advise.readers.words import listed, shown
from incast.advise.sonic_schema import ECN

USED = {"BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP"}
"""The tables that lead from a queue to its profiles."""


def marks(taken: Taken, tables: dict[str, Any], profile: str, longest: float, where: str) -> None:
    """Take the marking threshold of the queues that have a buffer profile.

    Parameters
    ----------
    taken
        The values read so far.
    tables
        The configuration.
    profile
        The buffer profile that the scenario uses; empty if it uses none.
    longest
        The longest queue that the profile allows, in bytes.
    where
        The name of the file.

    Raises
    ------
    AdviceError
        A profile has a value that is not valid.
    """
    sizes = {
        name: size
        for name, row in tables.get("WRED_PROFILE", {}).items()
        if (size := _threshold(where, name, row))
    }
    among, said = _queues(tables, profile)
    here: dict[str, set[Queue]] = {}
    for queue, row in queues(tables.get("QUEUE", {})):
        name = row_of(row.get("wred_profile", ""))
        if name in sizes and (among is None or queue in among):
            here.setdefault(name, set()).add(queue)
    unused = [name for name in sizes if name not in here]
    if unused:
        taken.took.append(f"{listed(unused)} is left out: no queue{said} uses it.")
    if len({sizes[name] for name in here}) > 1:
        each = ", ".join(f"{shown(name)} {units.size(sizes[name])}" for name in here)
        taken.took.append(
            f"No marking threshold is used: the thresholds of the queues{said} differ ({each})."
        )
        return
    for name, its in here.items():
        size = sizes[name]
        if size >= longest:
            taken.took.append(
                f"{shown(name)} is left out: it marks from {units.size(size)} on, but the queues"
                f"{said} hold less."
            )
            return
        of = f" of {len(among)}" if among is not None else ""
        taken.take(
            f"{shown(name)} marks from {units.size(size)} on, in {len(its)}{of} queues{said}.",
            network__queue={"name": "ecn-threshold", "threshold": f"{size}B"},
        )
        taken.assumed.append(
            "TCP is in a queue that marks, and all packets beyond the lower threshold are marked."
        )
        return


def _threshold(where: str, name: str, row: dict[str, Any]) -> int:
    """Return the queue length in bytes from which a profile marks packets of TCP, or 0."""
    ecn = str(row.get("ecn", "ecn_none"))
    if why := ECN.wrong(ecn):
        raise wrong(where, ("WRED_PROFILE", name, "ecn"), ecn, why)
    threshold = row.get("green_min_threshold")
    if threshold is None or not (ecn == "ecn_all" or "green" in ecn):
        return 0
    path = ("WRED_PROFILE", name, "green_min_threshold")
    return number(where, path, threshold, LARGEST)


def _queues(tables: dict[str, Any], profile: str) -> tuple[set[Queue] | None, str]:
    """Return the queues that may carry the traffic (None for all), and a phrase on these queues."""
    with_it = {
        queue
        for queue, row in queues(tables.get("BUFFER_QUEUE", {}))
        if profile and row_of(row.get("profile", "")) == profile
    }
    if with_it:
        return with_it, f" with {shown(profile)}"
    lossless = lossless_queues(tables)
    if not lossless:
        return None, ""
    return {queue for queue, _ in queues(tables.get("QUEUE", {}))} - lossless, " without PFC"
