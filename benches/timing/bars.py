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


CASES = {
    "a": Pair(Bar(0.65), Bar(0.80)),
    "b": Pair(Bar(0.50), Bar(0.60)),
    "c": Pair(Bar(0.45), Bar(0.55)),
    "d": Pair(Bar(0.38), Bar(0.45)),
    "e": Pair(Bar(0.38)),
    "f": Pair(Bar(0.22)),
    "g": Pair(Bar(0.35)),
}
"""Least time of the probe per packet-hop, as a multiple of the engine's in each case."""
NS2 = {"ample buffer": Pair(Bar(15)), "32-packet buffer, in collapse": Pair(Bar(7))}
"""Least speed of the engine as a multiple of that of ns-2, for each workload."""
HTSIM = Pair(Bar(2.5), Bar(3))
"""Least speed of the engine as a multiple of that of htsim, for every workload."""
TRANSPORTS = {"bbr": Bar(2)}
TRANSPORT = Bar(1.5)
"""Longest time of a transport, as a multiple of NewReno's time before header prediction."""
GROWTH = Bar(1.1)
SHAPES = {
    "servers": Bar(1.15),
    "servers asked within 1 ms": Bar(1.15),
    "servers in collapse": Bar(1.25),
    "clients that send to each other": Bar(1.15),
    "the same, within 1 s": Bar(1.15),
    "switches": Bar(1.15),
}
"""Largest exponents of the time, for the shapes in which caches end."""
INSTRUCTIONS_OF_SHAPE = Bar(1.02)
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
    yield from TRANSPORTS.items()
    yield "transports", TRANSPORT
    yield "growth", GROWTH
    yield from SHAPES.items()
    yield "growth of instructions", INSTRUCTIONS_OF_SHAPE
