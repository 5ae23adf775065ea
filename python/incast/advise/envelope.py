"""How close a case lies to what was validated: inside, near or outside, and the page that says so.

The ranges are those of the reference data in `validation/reference` and `docs/validation/live`.
"""

from dataclasses import dataclass
from enum import StrEnum

from incast import units
from incast.advise.case import Case

_NEAR = 4.0  # a quantity within this factor of a range is near it


class Word(StrEnum):
    """The three words."""

    INSIDE = "inside"
    NEAR = "near"
    OUTSIDE = "outside"


@dataclass(frozen=True)
class Study:
    """One validation of this simulator, for reads on a star.

    Parameters
    ----------
    name, page
        With what, and the page of the documentation.
    controls
        The congestion controls.
    rates, servers, srus, buffers, timers
        The smallest and largest rate of the client's link (bit/s), number of servers, bytes per
        server, bytes of buffer, and minimum RTO (s).
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
    """The word, why, and the page of the closest study."""

    word: Word
    why: str
    page: str

    def to_dict(self) -> dict[str, str]:
        """Return it for programs."""
        return {"word": str(self.word), "why": self.why, "page": self.page}


def envelope_of(case: Case) -> Envelope:
    """Return how close a case lies to the closest study."""
    here = case.here
    if here.topology != "star" or not case.reads or here.tree["background"]:
        what = "a read on one switch without other traffic"
        return Envelope(
            Word.OUTSIDE,
            f"Other simulators and kernels were compared only for {what}.",
            "docs/validation/ns2.md",
        )
    control = case.transport["congestion_control"]["name"]
    able = [one for one in STUDIES if control in one.controls]
    if not able:
        said = f"The congestion control {control} was not compared with others on reads."
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
        return Envelope(Word.INSIDE, f"Within the range compared with {best.name}.", best.page)
    word = Word.NEAR if all(off <= _NEAR for _, off in beyond) else Word.OUTSIDE
    parts = ", ".join(f"{what} by a factor of {units.number(off, 2)}" for what, off in beyond)
    return Envelope(word, f"Beyond the range compared with {best.name}: {parts}.", best.page)


def _off(case: Case, study: Study) -> list[tuple[str, float]]:
    """Return the factor by which each quantity is outside a range; 1 inside it."""
    here = case.here
    quantities = (
        ("rate", here.line_rate, study.rates),
        ("servers", here.servers, study.servers),
        ("bytes per server", here.sru, study.srus),
        ("buffer", here.buffer_bytes, study.buffers),
        ("minimum RTO", here.rto_min, study.timers),
    )
    # Bytes of full packets are not quite those of a buffer in bytes.
    slack = 1.06
    return [
        (what, off if (off := max(low / value, value / high, 1.0)) > slack else 1.0)
        for what, value, (low, high) in quantities
    ]
