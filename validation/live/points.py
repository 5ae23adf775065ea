"""The points of the blind predictions: random reads on a star of real hosts."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SERVERS = (2, 4, 6, 8, 12, 16, 24, 32, 48)
_SRUS = ("16KB", "32KB", "64KB", "128KB", "256KB")
JITTERS = {"100Mbps": "20us", "50Mbps": "200us", "20Mbps": "500us", "10Mbps": "1ms"}
"""Maximum time between two requests, for each rate of the links."""
_WIDE_SERVERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
_LONGEST = 0.5
"""Maximum seconds of a block; with longer blocks, a run would have too few of them."""
_BUFFERS = ("16KB", "32KB", "64KB", "128KB")
_TIMERS = ("200ms", "100ms", "40ms", "20ms", "10ms")
RECOVERIES: dict[str, dict[str, Any]] = {
    "rack-tlp": {},
    "no probes": {"recovery": {"name": "rack-tlp", "probes": 0}},
    "sack": {"recovery": "sack"},
    "newreno": {"recovery": "newreno", "sack": False},
}
_WINDOWS = (2, 4, 8)  # segments of a fixed window


@dataclass(frozen=True, kw_only=True)
class Read:
    """A read whose number of servers is not fixed.

    Parameters
    ----------
    control
        `reno`, `cubic`, `bbr`, or `fixed`; with `fixed`, a small receive window limits the sender.
    window
        Segments of the fixed window; 0 if it is not fixed.
    recovery
        The loss recovery.
    sru, buffer, rto_min, rate, connections
        The values of these keys in the scenario.
    """

    control: str
    window: int
    recovery: str
    sru: str
    buffer: str
    rto_min: str
    rate: str = "100Mbps"
    connections: str = "fresh"

    @property
    def name(self) -> str:
        """Name of the read in a table."""
        control = f"{self.window} segments" if self.control == "fixed" else self.control
        kept = "" if self.connections == "fresh" else ", kept connections"
        return f"{control}, {self.recovery}, {self.sru}, {self.buffer}, {self.rto_min}{kept}"

    def least_s(self, servers: int) -> float:
        """Seconds that the data of a block take on the client's link."""
        kilobytes, megabits = self.sru.removesuffix("KB"), self.rate.removesuffix("Mbps")
        return servers * int(kilobytes) * 8e3 / (int(megabits) * 1e6)

    def document(self, servers: int, blocks: int) -> dict[str, Any]:
        """Return the scenario with this many servers."""
        # Without timestamps, the first window that the kernel advertises is also whole segments.
        window = {"receive_window": f"{self.window}pkt", "timestamps": False}
        fixed = window if self.control == "fixed" else {}
        return {
            "title": self.name,
            "profile": "linux",
            "network": {"rate": self.rate, "delay": "25us", "buffer": self.buffer},
            "workload": {
                "name": "barrier-read",
                "servers": servers,
                "sru": self.sru,
                "blocks": blocks,
                "request_jitter": JITTERS[self.rate],
                "connections": self.connections,
            },
            "transport": {
                "name": "cubic",
                "congestion_control": "reno" if self.control == "fixed" else self.control,
                "rto_min": self.rto_min,
                # The hosts share one kernel, and so the ticks of its timer.
                "timer_phase": "shared",
                **RECOVERIES[self.recovery],
                **fixed,
            },
        }


@dataclass(frozen=True)
class Lot:
    """How the points of a set are drawn.

    Parameters
    ----------
    seed
        Seed of the draw.
    plateaus, knees
        Numbers of points.
    recoveries
        Names in `RECOVERIES`. `sack` is not among the defaults, because Linux 6.17 removed it.
    rate
        Rate of the links.
    srus
        SRUs are drawn from this number of the smallest SRUs in `_SRUS`.
    servers
        Largest number of servers.
    wide
        Whether the rate and the kind of connections are also drawn. The congestion controls then
        include BBR, but no fixed windows, and `rate` is ignored.
    seconds
        Approximate duration of a run of the kernel.
    """

    seed: int
    plateaus: int
    knees: int
    recoveries: Sequence[str] = ("rack-tlp", "no probes", "newreno")
    rate: str = "100Mbps"
    srus: int = len(_SRUS)
    servers: int = 48
    wide: bool = False
    seconds: float = 4.0


def reads(lot: Lot) -> Iterator[tuple[Read, int]]:
    """Yield random reads and numbers of servers without end."""
    draw = random.Random(lot.seed)
    while lot.wide:
        one = Read(
            control=draw.choice(("reno", "cubic", "bbr")),
            window=0,
            recovery=draw.choice(lot.recoveries),
            sru=draw.choice(_SRUS[: lot.srus]),
            buffer=draw.choice(_BUFFERS),
            rto_min=draw.choice(_TIMERS),
            rate=draw.choice(tuple(JITTERS)),
            connections=draw.choice(("fresh", "persistent")),
        )
        servers = draw.choice([count for count in _WIDE_SERVERS if count <= lot.servers])
        if one.least_s(servers) <= _LONGEST:
            yield one, servers
    while True:
        control = draw.choice(("reno", "cubic", "cubic", "fixed"))
        window = draw.choice(_WINDOWS)
        one = Read(
            control=control,
            window=window if control == "fixed" else 0,
            recovery=draw.choice(lot.recoveries),
            sru=draw.choice(_SRUS[: lot.srus]),
            buffer=draw.choice(_BUFFERS),
            rto_min=draw.choice(_TIMERS),
            rate=lot.rate,
        )
        yield one, draw.choice([count for count in _SERVERS if count <= lot.servers])
