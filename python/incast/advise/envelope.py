"""Whether a case is inside, near or outside a validated range, and the page of the study.

The ranges are those of the reference data in `validation/reference` and `docs/validation/live`.
"""

from dataclasses import dataclass
from enum import StrEnum

from incast import units
from incast.advise.case import Case

_NEAR = 4.0  # a quantity outside a range by at most this factor is near it


class Word(StrEnum):
    """How close a case is to a range, in one word."""

    INSIDE = "inside"
    NEAR = "near"
    OUTSIDE = "outside"


@dataclass(frozen=True)
class Study:
    """One validation of this simulator, for reads on a star.

    Parameters
    ----------
    name
        The simulator or kernel with which this simulator was compared.
    page
        The page of the documentation that describes the study.
    controls
        The congestion controls that were compared.
    rates
        The lowest and highest rate of the client's link, in bit/s.
    servers
        The smallest and largest number of servers.
    srus
        The smallest and largest number of bytes per server.
    buffers
        The smallest and largest buffer, in bytes.
    timers
        The shortest and longest minimum RTO, in seconds.
    """

    name: str
    page: str
    controls: frozenset[str]
    rates: tuple[float, float]
    servers: tuple[float, float]
    srus: tuple[float, float]
    buffers: tuple[float, float]
    timers: tuple[float, float]


_K = 1024.0
STUDIES = (
    Study("ns-2", "docs/validation/ns2.md", frozenset({"reno", "bic"}), (100e6, 10e9),
          (1, 192), (32 * _K, 1024 * _K), (16 * _K, 128 * _K), (0.0002, 0.2)),
    Study("ns-3", "docs/validation/ns3.md", frozenset({"reno", "cubic", "dctcp"}), (1e9, 1e9),
          (1, 64), (64 * _K, 256 * _K), (100e3, 100e3), (0.01, 0.2)),
    Study("the Linux kernel", "docs/validation/live-second.md", frozenset({"reno", "cubic"}),
          (100e6, 100e6), (2, 48), (16e3, 256e3), (16e3, 128e3), (0.01, 0.2)),
)  # fmt: skip


@dataclass(frozen=True)
class Envelope:
    """How close a case is to the closest study, the reason, and the page of the study."""

    word: Word
    why: str
    page: str

    def to_dict(self) -> dict[str, str]:
        """Return the word, the reason and the page as a dictionary, for programs."""
        return {"word": str(self.word), "why": self.why, "page": self.page}


def envelope_of(case: Case) -> Envelope:
    """Return how close a case lies to the closest study."""
    here = case.here
    if here.topology != "star" or not case.reads or here.tree["background"]:
        what = "a read on one switch without other traffic"
        return Envelope(
            Word.OUTSIDE,
            f"Only {what} was compared with other simulators and kernels.",
            "docs/validation/ns2.md",
        )
    control = case.transport["congestion_control"]["name"]
    able = [one for one in STUDIES if control in one.controls]
    if not able:
        said = f"There is no validated range for reads with the congestion control {control}."
        return Envelope(Word.OUTSIDE, said, "docs/validation/ns2-transports.md")
    linux = case.scenario.document.get("profile") == "linux"
    if linux and case.transport["recovery"]["name"] == "newreno":
        said = (
            "Without SACK, Linux reduces its rate during recovery in a way that is not simulated, "
            "and has more timeouts."
        )
        return Envelope(Word.OUTSIDE, said, "docs/validation/advised.md")
    best = min(able, key=lambda one: max(off for _, off in _off(case, one)))
    beyond = [(what, off) for what, off in _off(case, best) if off > 1]
    if not beyond:
        return Envelope(
            Word.INSIDE,
            f"The case is within the range that was compared with {best.name}.",
            best.page,
        )
    word = Word.NEAR if all(off <= _NEAR for _, off in beyond) else Word.OUTSIDE
    parts = ", ".join(f"{what} by a factor of {units.number(off, 2)}" for what, off in beyond)
    return Envelope(
        word,
        f"The case is outside the range that was compared with {best.name}: {parts}.",
        best.page,
    )


def _off(case: Case, study: Study) -> list[tuple[str, float]]:
    """Return the factor by which each quantity is outside the range of a study; 1 if inside."""
    here = case.here
    quantities = (
        ("rate", here.line_rate, study.rates),
        ("servers", here.servers, study.servers),
        ("bytes per server", here.sru, study.srus),
        ("buffer", here.buffer_bytes, study.buffers),
        ("minimum RTO", here.rto_min, study.timers),
    )
    slack = 1.06  # the factor by which the same buffer in packets and in bytes may differ
    return [
        (what, off if (off := max(low / value, value / high, 1.0)) > slack else 1.0)
        for what, value, (low, high) in quantities
    ]
