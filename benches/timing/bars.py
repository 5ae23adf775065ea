"""The bars of `make bench`, in one place.

A bar that the engine does not reach after honest work gets a floor, with the reason. The floor is
then the bar that counts, and the page on performance says what was wanted and why it was missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A limit that a result should meet.

    Parameters
    ----------
    wanted
        The limit that was asked for.
    floor
        The limit that was reached instead, if the wanted one cannot be reached.
    why
        What the floor is made of.
    """

    wanted: float
    floor: float | None = None
    why: str = ""

    @property
    def now(self) -> float:
        """The limit that counts."""
        return self.wanted if self.floor is None else self.floor


@dataclass(frozen=True)
class Pair:
    """The bar of a usual build, and the bar of a build with profile-guided optimisation."""

    plain: Bar
    guided: Bar | None = None

    def of(self, *, guided: bool) -> Bar:
        """Return the bar of a build; without a bar of its own, a guided build has the usual one."""
        return self.guided if guided and self.guided is not None else self.plain


_WORK = (
    "the instructions of a packet-hop are spread over the files that `benches/walk.py` lists, each "
    "with a task that the probe leaves out"
)
_LINKS = "an event per link, because the admission at a port depends on other ports at that instant"
_REPAIR = f"{_WORK}; in collapse, each loss also takes the path of recovery"

CASES = {
    "a": Pair(Bar(0.65, 0.52, _WORK), Bar(0.80, 0.56, _WORK)),
    "b": Pair(Bar(0.50, 0.39, _REPAIR), Bar(0.60, 0.44, _REPAIR)),
    "c": Pair(Bar(0.45, 0.35, _WORK), Bar(0.55, 0.39, _WORK)),
    "d": Pair(Bar(0.38, 0.28, _REPAIR), Bar(0.45, 0.33, _REPAIR)),
    "e": Pair(Bar(0.38, 0.31, _LINKS)),
    "f": Pair(Bar(0.22)),
    "g": Pair(Bar(0.35, 0.26, _LINKS), Bar(0.35, 0.31, _LINKS)),
}
"""Least time of the probe per packet-hop, as a multiple of the engine's in each case."""
NS2 = {
    "ample buffer": Pair(Bar(15, 9.5, _WORK), Bar(15, 10.5, _WORK)),
    "32-packet buffer, in collapse": Pair(Bar(7, 5.2, _REPAIR), Bar(7, 5.7, _REPAIR)),
}
"""Least speed of the engine as a multiple of that of ns-2, for each workload."""
HTSIM = Pair(Bar(2.5, 1.75, _REPAIR), Bar(3, 1.9, _REPAIR))
"""Least speed of the engine as a multiple of that of htsim, for every workload."""
TRANSPORTS = {"bbr": Bar(2)}
TRANSPORT = Bar(1.5)
"""Longest time of a transport, as a multiple of NewReno's time before header prediction."""
START = {
    "run --help": Bar(0.2),
    "tiny run, table": Bar(0.5),
    "tiny run, JSON": Bar(0.4),
    "model storage-read": Bar(
        0.6,
        0.9,
        "the model simulates for half of the time, up to 3.3 million events for each of twelve "
        "points, and the imports take the rest; fewer events would make the answers less certain",
    ),
    "advise, first answer": Bar(1.5),
    "reproduce --quick": Bar(
        60,
        130,
        "two thirds are 1.4 billion packet-hops in over 5 000 runs, whose length the figures of "
        "the literature need, and one third is drawing and judging 137 figures",
    ),
}
"""Longest processor time of a command, in seconds."""
GROWTH = Bar(1.1)
SHAPES = {
    "servers": Bar(1.15),
    "servers asked within 1 ms": Bar(1.15),
    "servers in collapse": Bar(
        1.25,
        1.45,
        "from 1 000 servers on, the ends of connections do not fit into the caches",
    ),
    "clients that send to each other": Bar(1.15),
    "the same, within 1 s": Bar(1.15),
    "switches": Bar(1.15, 1.3, "the ports of 10 000 trunks do not fit into the caches"),
}
"""Largest exponents of the time, for the shapes in which caches end."""
UNCOUNTED_SHAPES = {
    "timeouts with a long queue": Bar(
        1.1, 1.25, "each timeout searches the slots of all packets, and the caches end as well"
    ),
}
"""The same, for shapes whose instructions are not counted."""
INSTRUCTIONS_OF_SHAPE = Bar(
    1.02,
    1.15,
    "with 36 000 servers or 10 000 trunks, packets that overtake others are sorted in heaps and in "
    "crowded hours of the calendar",
)
"""Largest exponent of the instructions, for the shapes in `SHAPES`."""


def lowered() -> Iterator[str]:
    """Return a line for each bar that has a floor."""
    for name, bar in _named():
        if bar.floor is not None:
            yield f"{name}: {bar.wanted:g} was wanted, and {bar.floor:g} is the floor: {bar.why}"


def _named() -> Iterator[tuple[str, Bar]]:
    pairs = {f"case {letter}": pair for letter, pair in CASES.items()}
    pairs |= {f"ns-2, {name}": pair for name, pair in NS2.items()} | {"htsim": HTSIM}
    for name, pair in pairs.items():
        yield name, pair.plain
        if pair.guided is not None:
            yield f"{name}, guided build", pair.guided
    yield from START.items()
    yield from TRANSPORTS.items()
    yield "transports", TRANSPORT
    yield "growth", GROWTH
    yield from (SHAPES | UNCOUNTED_SHAPES).items()
    yield "growth of instructions", INSTRUCTIONS_OF_SHAPE
