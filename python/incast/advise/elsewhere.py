"""Losses without a collapse: at the port to the client or elsewhere, and the commands to check."""

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
        The place.
    command
        The command that shows it; `eth0` stands for the interface.
    shows
        What to look for in its output.
    """

    name: str
    command: str
    shows: str


PLACES = (
    Place(
        "the link",
        "ip -s link show dev eth0",
        "errors that grow, at either end: a cable or an optic, not a queue.",
    ),
    Place(
        "the driver and the host's ring",
        "ethtool -S eth0 | grep -iE 'drop|miss|fifo|no_buf|crc'",
        "drops that grow at the client: a ring that is too small (ethtool -g eth0).",
    ),
    Place(
        "the host's own queue",
        "tc -s qdisc show dev eth0",
        "dropped and overlimits at the servers: a shaper, or a queue that is too short.",
    ),
    Place(
        "the hosts' TCP",
        "nstat -az TcpRetransSegs TcpExtTCPBacklogDrop TcpExtTCPRcvQDrop TcpExtListenDrops",
        "drops of the host itself, at the client; retransmissions, at the servers.",
    ),
)


@dataclass(frozen=True)
class Elsewhere:
    """Whether the port to the client is the place.

    Parameters
    ----------
    burst
        The largest number of packets in the port at a time, in any run.
    fit
        How many packets fit into it.
    lost
        Packets that it loses per run.
    """

    burst: int
    fit: int
    lost: float = 0.0

    @property
    def places(self) -> tuple[Place, ...]:
        """Other places of losses; none if the port itself loses packets."""
        return () if self.lost else PLACES

    def sentence(self) -> str:
        """Return it in words."""
        if self.lost:
            return (
                f"The burst fills the {units.plural(self.fit, 'packet')} that fit into the port to "
                f"the client, which drops {units.number(self.lost, 2)} per run. They are repaired "
                "in time: losses alone are not a collapse."
            )
        return (
            f"The burst is {self.burst} of the {units.plural(self.fit, 'packet')} that fit into "
            "the port to the client, and nothing is lost there. If you see losses, look "
            "elsewhere:"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
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
        A row per run of it, as `Results.numbered` has them.
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
