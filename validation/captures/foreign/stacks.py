"""The settings in which hosts differ: identifications, time stamps, selective ACKs, timers."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

PER_CONNECTION, PER_HOST, OUTSIDE, BEHIND_NAT = "per-connection", "per-host", "outside", "nat"
RANDOM, ZERO, VERSION_6 = "random", "zero", "ipv6"
POLICIES = (PER_CONNECTION, PER_HOST, OUTSIDE, BEHIND_NAT, RANDOM, ZERO, VERSION_6)


@dataclass(frozen=True)
class Stack:
    """The settings of a host's TCP/IP.

    `numbering` is the policy for the host's identifications. With `outside`, traffic that is not in
    the file uses up some identifications after a packet, with the probability `busy`. `probes` is
    the number of new bytes in a probe of a closed window; None means that there are no probes.
    """

    numbering: str = PER_CONNECTION
    timestamps: bool = True
    selective: bool = True
    delayed_ack: float = 0.04
    quick_acks: int = 16
    nagle: bool = False
    probes: int | None = 0
    ttl: int = 64
    mss: int = 1460
    window: int = 64240
    scale: int = 0
    initial: int = 10
    busy: float = 0.3


LINUX = Stack()


def drawn(random: Random, numbering: str | None = None) -> Stack:
    """Return a random stack. Its settings fit `numbering`, or a random numbering if None."""
    kind = numbering or random.choice(POLICIES)
    if kind in (PER_CONNECTION, VERSION_6):
        return Stack(kind, timestamps=random.random() < 0.7, selective=random.random() < 0.8)
    if kind == ZERO:
        return Stack(kind, timestamps=random.random() < 0.5, initial=4, quick_acks=0)
    return Stack(
        kind,
        timestamps=random.random() < 0.3,
        selective=random.random() < 0.8,
        delayed_ack=random.choice((0.04, 0.1)),
        quick_acks=random.choice((0, 2)),
        ttl=128,
        busy=random.choice((0.05, 0.3, 0.8)),
    )


class Counter:
    """A counter of identifications, which several hosts or connections may share."""

    def __init__(self, random: Random, policy: str, busy: float = 0.0) -> None:
        self.random, self.policy, self.busy = random, policy, busy
        self.value = random.randrange(1 << 16)

    def next(self, packets: int = 1) -> int:
        """Return the identification of a packet; with offload, it may stand for several packets."""
        if self.policy in (ZERO, VERSION_6):
            return 0
        if self.policy == RANDOM:
            return self.random.randrange(1 << 16)
        told = self.value
        self.value = (self.value + packets) & 0xFFFF
        if self.policy == OUTSIDE and self.random.random() < self.busy:
            self.value = (self.value + self.random.randint(1, 20)) & 0xFFFF
        return told
