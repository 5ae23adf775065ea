"""Where packets are lost if nothing collapses, and the commands that show it."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import polars as pl

from incast import units
from incast.advise.case import Case


@dataclass(frozen=True)
class Place:
    """A place where packets may be lost.

    Parameters
    ----------
    name
        The name of the place.
    command
        The command that shows losses at this place; `eth0` stands for the interface.
    shows
        What to look for in the output of the command.
    """

    name: str
    command: str
    shows: str


PLACES = (
    Place(
        "the link",
        "ip -s link show dev eth0",
        "errors that grow at either end come from a cable or an optic, not from a queue.",
    ),
    Place(
        "the driver and the host's ring",
        "ethtool -S eth0 | grep -iE 'drop|miss|fifo|no_buf|crc'",
        "drops that grow at the client come from a ring that is too small (ethtool -g eth0).",
    ),
    Place(
        "the host's own queue",
        "tc -s qdisc show dev eth0",
        "dropped and overlimits at the servers come from a shaper, or from a queue that is too "
        "short.",
    ),
    Place(
        "the hosts' TCP",
        "nstat -az TcpRetransSegs TcpExtTCPBacklogDrop TcpExtTCPRcvQDrop TcpExtListenDrops",
        "at the client, look for packets that the host itself dropped; at the servers, look for "
        "retransmissions.",
    ),
)


@dataclass(frozen=True)
class Elsewhere:
    """How full the port to the client gets, and how many packets it loses.

    Parameters
    ----------
    burst
        The largest number of packets that were in the port at the same time, in any run.
    fit
        The number of packets that fit into the port.
    lost
        The number of packets that the port loses per run.
    """

    burst: int
    fit: int
    lost: float = 0.0

    @property
    def places(self) -> tuple[Place, ...]:
        """Other places that may lose packets; empty if the port itself loses packets."""
        return () if self.lost else PLACES

    def sentence(self) -> str:
        """Return a sentence on the port."""
        if self.lost:
            return (
                f"The burst fills the port to the client, which holds "
                f"{units.plural(self.fit, 'packet')} and drops {units.number(self.lost, 2)} per "
                "run. These losses are repaired in time. Losses alone are not a collapse."
            )
        return (
            f"The burst takes {self.burst} of the {units.plural(self.fit, 'packet')} that fit "
            "into the port to the client, and the port loses no packet. If you see losses, look "
            "elsewhere:"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the places as a dictionary, for programs."""
        places = [
            {"where": one.name, "command": one.command, "shows": one.shows} for one in self.places
        ]
        return {
            "burst_packets": self.burst,
            "buffer_packets": self.fit,
            "lost_per_run": self.lost,
            "places": places,
        }


def elsewhere(case: Case, rows: pl.DataFrame) -> Elsewhere | None:
    """Return where a case that does not collapse may lose packets; None if no run has ended.

    Parameters
    ----------
    case
        The case.
    rows
        One row per run of the case, as returned by `Results.numbered`.
    """
    ended = rows.filter(pl.col("status") == "ok")
    if not ended.height:
        return None
    longest = ended["queue_max_packets"].max()
    if not isinstance(longest, int | float):
        return None
    fit = case.here.buffer_packets
    burst = min(ceil(longest) + fit - case.here.buffer_places, fit)
    return Elsewhere(burst, fit, float(ended["drops"].sum()) / ended.height)
