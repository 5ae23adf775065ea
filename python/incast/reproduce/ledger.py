"""What became of a text's claims and headlines: its `ledger.toml` and its `scorecard.toml`."""

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
        `contradicts itself`, two statements of the text; `impossible`, by arithmetic on what the
        text gives; `ns-2`, whose measured data in the same reading refute it, too; `not given`, a
        parameter on which it depends; or `open`.
    why
        The argument; if the cause is `open`, also what would decide it.
    """

    cause: Literal["contradicts itself", "impossible", "ns-2", "not given", "open"]
    why: str


@dataclass(frozen=True)
class Ledger:
    """Later decisions about claims, beyond their verdicts by the runs.

    Parameters
    ----------
    merged
        Claims that are no longer judged, each with the claim that says the same.
    dropped
        Claims that are no longer judged, and why.
    failures
        Claims that fail, and why.
    empty
        Claims that hold whatever the run does, and why; as readings they do not count.
    ties
        Claims that depend on whether hosts have exactly equal clocks, and how. One whose verdict is
        the same in both full runs depends on it by other runs, which are named.
    conditions
        Claims that hold by one reading of the text and fail by another, of which only the first is
        a claim of a figure, and what both readings are.
    """

    merged: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    empty: dict[str, str] = field(default_factory=dict)
    ties: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)

    def check(self, claims: Set[str], where: str) -> None:
        """Refuse names of claims that there are not, and of those that there still are.

        Raises
        ------
        FigureError
            There is such a name.
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
                    raise FigureError(f"{where}: {table}: {name} is a claim of a figure still")


@dataclass(frozen=True)
class Headline:
    """The main results of a text, and what we find.

    Parameters
    ----------
    headline
        Its name, a few words.
    says
        What the text says.
    found
        What we find, and under which reading.
    verdict
        One sentence on the text that its authors would call fair.
    claims
        The claims on which it is based.
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
        """Refuse names of claims that there are not.

        Raises
        ------
        FigureError
            There is such a name.
        """
        known = dict.fromkeys(sorted(claims), 0)
        for one in self.headlines:
            for name in one.claims:
                choose(name, known, f"{where}: {one.headline}: claims")
