"""A text's `ledger.toml`, with decisions about claims, and its `scorecard.toml`, with headlines."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from incast.errors import FigureError
from incast.reproduce.strict import choose


@dataclass(frozen=True)
class Failure:
    """Why a claim fails.

    Parameters
    ----------
    cause
        `contradicts itself`: two statements of the text contradict each other. `impossible`:
        arithmetic with the text's values excludes the claim. `ns-2`: measured data of ns-2 in the
        same reading also refute the claim. `not given`: the claim depends on a parameter that the
        text does not give. `open`: the cause is not known.
    why
        The argument. If the cause is `open`, the argument also names the evidence that would decide
        the claim.
    """

    cause: Literal["contradicts itself", "impossible", "ns-2", "not given", "open"]
    why: str


@dataclass(frozen=True)
class Ledger:
    """Decisions about claims, in addition to the verdicts by runs.

    Parameters
    ----------
    merged
        Claims that are no longer judged, each with the claim that says the same.
    dropped
        Claims that are no longer judged, each with the reason.
    failures
        Claims that fail, each with the reason.
    empty
        Claims that hold whatever the run does, each with the reason. If such a claim is another
        reading of a claim, it is left out when the verdicts of that claim's readings are combined.
    ties
        Claims that depend on whether hosts have exactly equal clocks, each with the evidence. The
        verdicts with and without clock noise may be the same; the evidence is then from other runs.
    conditions
        Claims that hold in one reading of the text and fail in another, each with both readings.
        Only the first reading is a claim of a figure.
    """

    merged: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    empty: dict[str, str] = field(default_factory=dict)
    ties: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)

    def check(self, claims: Set[str], where: str) -> None:
        """Refuse unknown names, and names of merged or dropped claims that a figure still has.

        Raises
        ------
        FigureError
            The ledger has a name that is refused.
        """
        known: Mapping[str, int] = dict.fromkeys(sorted(claims), 0)
        for name, into in self.merged.items():
            choose(into, known, f"{where}: merged, {name}")
        for part in ("failures", "empty", "ties", "conditions"):
            for name in getattr(self, part):
                choose(name, known, f"{where}: {part}")
        for table in ("merged", "dropped"):
            for name in getattr(self, table):
                if name in claims:
                    raise FigureError(f"{where}: {table}: {name} is still a claim of a figure")


@dataclass(frozen=True)
class Headline:
    """A main result of a text, and our finding.

    Parameters
    ----------
    headline
        Name of the result in a few words.
    says
        What the text says.
    found
        What we find, and the reading under which we find it.
    verdict
        One sentence that judges the text, and that the text's authors would call fair.
    claims
        The claims on which the verdict is based.
    """

    headline: str
    says: str
    found: str
    verdict: str
    claims: list[str]


@dataclass(frozen=True)
class Scorecard:
    """The headlines of a text."""

    headlines: list[Headline] = field(default_factory=list)

    def check(self, claims: Set[str], where: str) -> None:
        """Refuse unknown names of claims.

        Raises
        ------
        FigureError
            The scorecard has an unknown name.
        """
        known = dict.fromkeys(sorted(claims), 0)
        for one in self.headlines:
            for name in one.claims:
                choose(name, known, f"{where}: {one.headline}: claims")
