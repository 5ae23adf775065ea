"""The columns of rows that the simulator does not write: computed, or measured on real hosts."""

from incast.results import collapse

_LIVE = (
    (
        "live.late_max_s",
        "s",
        "Real hosts: largest delay of a frame after its computed time of delivery.",
    ),
    ("live.late_p99_s", "s", "Real hosts: 99th percentile of the delays of frames."),
    ("live.busy", "1", "Real hosts: share of the run in which the busier thread was running."),
    (
        "live.waiting",
        "1",
        "Real hosts: share of the run in which the hosts' thread waited for a processor.",
    ),
    (
        "live.rto_s",
        "s",
        "Real hosts: smallest RTO that a connection of a server has when the connection ends.",
    ),
)

DESCRIPTIONS = (*collapse.DESCRIPTIONS, *_LIVE)
"""Name, unit and meaning of each column."""
