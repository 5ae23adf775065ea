"""The list of foreign captures: families, their kinds, and the number of captures in each draw.

The parameters of a capture are drawn from a random stream whose seed is the capture's name. To make
a new draw, add its name to `DRAWS`.
"""

from __future__ import annotations

from dataclasses import dataclass

from validation.captures.foreign import incomplete, links, stacks

DRAWS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)
"""The last draw is held out. After the rules have been judged with it, a new draw is added."""

SERVICES = {
    "late-rpc": "slow_server",
    "greeting": "slow_server",
    "paused": "slow_server",
    "keep-alives": None,
    "browser": None,
    "transfers": None,
    "multichannel": "slow_server",
    "fan-out": None,
    "long-poll": "slow_server",
    "all-late": "slow_server",
    "nagle": "delayed_ack",
    "reads": None,
}
WINDOWS = {
    "below-a-segment": "receiver_paused",
    "closed": "receiver_paused",
    "closed-to-the-end": "receiver_paused",
    "limited": "window_limited",
    "limited-and-losses": "window_limited",
}
TROUBLES = (
    "bad-link",
    "policer",
    "policer-for-all",
    "mtu-black-hole",
    "outage",
    "lost-acks",
    "path",
    "host-drops",
)
SIMULATED = ("bad-optic", "marked")
_TUNNELLED = (*links.TUNNELS, *links.LINKS)

# For each family: its kinds, and per kind the numbers of captures with and without incast.
_COUNTS: dict[str, tuple[tuple[str, ...], int, int]] = {
    "identification": (stacks.POLICIES, 8, 16),
    "incomplete": (tuple(incomplete.CHANGES), 5, 14),
    "tunnel": (_TUNNELLED, 2, 4),
    "window": (tuple(WINDOWS), 0, 12),
    "small-window": (("incast",), 8, 0),
    "service": (tuple(SERVICES), 0, 14),
    "trouble": ((*TROUBLES, *SIMULATED), 0, 14),
}
# For each kind of real hosts, the numbers of cases with and without incast. Each case is captured
# at four places.
_REAL = {
    "plain": (8, 0),
    "offloaded": (8, 3),
    "slow-servers": (0, 4),
    "outage": (0, 5),
    "policer": (0, 4),
    "mtu-black-hole": (0, 3),
}


@dataclass(frozen=True)
class Foreign:
    """One capture. Its name contains family, kind, `incast` or `control`, draw and number."""

    family: str
    kind: str
    incast: bool
    draw: str
    number: int

    @property
    def name(self) -> str:
        """The name of the capture's file, which is also the seed of its random numbers."""
        what = "incast" if self.incast else "control"
        return f"{self.family}-{self.kind}-{what}-{self.draw}-{self.number:02}"


def made_here() -> list[Foreign]:
    """Return every foreign capture that the simulator and the small network make."""
    return [
        Foreign(family, kind, incast, draw, number)
        for draw in DRAWS
        for family, (kinds, with_incast, without) in _COUNTS.items()
        for kind in kinds
        for incast, count in ((True, with_incast), (False, without))
        for number in range(count)
    ]


def on_kernel() -> list[Foreign]:
    """Return every foreign case of real hosts."""
    return [
        Foreign("kernel", kind, incast, draw, number)
        for draw in DRAWS
        for kind, counts in _REAL.items()
        for incast, count in zip((True, False), counts, strict=True)
        for number in range(count)
    ]


def all_foreign() -> list[Foreign]:
    """Return every foreign case."""
    return made_here() + on_kernel()
