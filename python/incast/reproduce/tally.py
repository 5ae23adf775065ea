"""The verdict on a claim with several readings, and the class of every claim."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from incast.reproduce.figure import Claim, Figure
from incast.reproduce.judge import Verdict
from incast.reproduce.ledger import Ledger
from incast.reproduce.papers import Paper

Name = TypeVar("Name", bound=Hashable)


class Class(StrEnum):
    """The classes of claims."""

    HOLDS = "holds"
    READING = "holds in one of its readings"
    EMPTY = "holds whatever the run does"
    ARITHMETIC = "holds by arithmetic"
    TIES = "depends on ties"
    ITSELF = "fails: the text contradicts itself"
    IMPOSSIBLE = "fails: impossible by arithmetic"
    NS2 = "fails: refuted by ns-2 in the same reading"
    NOT_GIVEN = "fails: depends on values that the text does not give"
    OPEN = "fails: open"
    MERGED = "merged"
    UNJUDGEABLE = "not judgeable"


@dataclass(frozen=True)
class Outcome:
    """A claim, its class, and the reason."""

    id: str
    found: Class
    why: str = ""


_HELD = {Verdict.HOLDS, Verdict.SOME}
_FAILED = {Verdict.FAILS, Verdict.TWICE}
_CAUSES = {
    "contradicts itself": Class.ITSELF,
    "impossible": Class.IMPOSSIBLE,
    "ns-2": Class.NS2,
    "not given": Class.NOT_GIVEN,
    "open": Class.OPEN,
}


def together(
    verdicts: Mapping[Name, Verdict], reading_of: Mapping[Name, Name]
) -> dict[Name, Verdict]:
    """Return one verdict for each claim, combined from its readings.

    Parameters
    ----------
    verdicts
        The verdict on each reading.
    reading_of
        For each reading that repeats a claim, the name of this claim. If the repeated claim has no
        verdict, the reading counts as a separate claim.
    """
    of = defaultdict(set)
    for name, verdict in verdicts.items():
        principal = reading_of.get(name, name)
        of[principal if principal in verdicts else name].add(verdict)
    result = {}
    for name, found in of.items():
        if Verdict.HOLDS in found and found & _FAILED:
            result[name] = Verdict.SOME
        elif Verdict.HOLDS in found:
            result[name] = Verdict.HOLDS
        else:
            result[name] = verdicts[name]
    return result


def outcomes(
    paper: Paper, verdicts: Mapping[str, Verdict], noisy: Mapping[str, Verdict]
) -> Iterator[Outcome]:
    """Return the class of every claim of a text, including merged and dropped claims.

    Parameters
    ----------
    paper
        The text.
    verdicts
        Verdicts of a full run, by claim.
    noisy
        Verdicts of a full run in which no two hosts have the same clock. A claim that holds in one
        of the two runs and fails in the other depends on ties.

    Raises
    ------
    KeyError
        A claim has no verdict, or it fails and the text's ledger does not state the reason.
    """
    ledger = paper.ledger
    figures = {claim.id: figure for figure in paper.figures.values() for claim in figure.claims}
    claims = [claim for figure in paper.figures.values() for claim in figure.claims]
    readings = {claim.id: claim.reading_of for claim in claims if claim.reading_of}
    whole, other = (_with_content(run, readings, ledger) for run in (verdicts, noisy))
    for claim in claims:
        if claim.reading_of:
            how = ledger.empty.get(claim.id)
            told = f"{Class.EMPTY}. {how}" if how else verdicts[claim.id]
            why = f"another reading of {claim.reading_of}: {told}"
            yield Outcome(claim.id, Class.MERGED, why)
        elif claim.id in ledger.empty and verdicts[claim.id] is Verdict.HOLDS:
            yield Outcome(claim.id, Class.EMPTY, ledger.empty[claim.id])
        elif _disagree(whole[claim.id], other[claim.id]):
            why = f"without clock noise: {whole[claim.id]}; with it: {other[claim.id]}"
            known = ledger.failures.get(claim.id)
            told = ledger.ties.get(claim.id) or (known.why if known else "")
            yield Outcome(claim.id, Class.TIES, f"{why}. {told}" if told else why)
        elif claim.id in ledger.ties:
            yield Outcome(claim.id, Class.TIES, ledger.ties[claim.id])
        elif whole[claim.id] is Verdict.SOME:
            others = [one for one in claims if one.reading_of == claim.id]
            own = f"first reading: {verdicts[claim.id]}"
            said = [f"{_reading(one, claim, figures)}: {verdicts[one.id]}" for one in others]
            more = [ledger.conditions[claim.id]] if claim.id in ledger.conditions else []
            yield Outcome(claim.id, Class.READING, "; ".join([own, *said, *more]))
        elif claim.id in ledger.conditions and whole[claim.id] is Verdict.HOLDS:
            yield Outcome(claim.id, Class.READING, ledger.conditions[claim.id])
        else:
            yield _outcome(claim, whole[claim.id], ledger)
    yield from (Outcome(name, Class.MERGED, into) for name, into in ledger.merged.items())
    yield from (Outcome(name, Class.UNJUDGEABLE, why) for name, why in ledger.dropped.items())


def _reading(claim: Claim, principal: Claim, figures: Mapping[str, Figure]) -> str:
    """Describe how a reading differs: return the end of its sentence or of its figure's title."""
    if claim.says != principal.says and claim.says.endswith(")."):
        return claim.says.removesuffix(").").rpartition("(")[2]
    title, first = (figures[one.id].title for one in (claim, principal))
    if title == first:
        return claim.id
    begins = f"{first}, "
    return title.removeprefix(begins) if title.startswith(begins) else title.rpartition(", ")[2]


def _with_content(
    verdicts: Mapping[str, Verdict], readings: Mapping[str, str], ledger: Ledger
) -> dict[str, Verdict]:
    """Combine the readings, except for readings that hold whatever the run does."""
    left_out = ledger.empty.keys() & readings.keys()
    return together({k: v for k, v in verdicts.items() if k not in left_out}, readings)


def _disagree(one: Verdict, other: Verdict) -> bool:
    return (one in _HELD and other in _FAILED) or (one in _FAILED and other in _HELD)


def _outcome(claim: Claim, verdict: Verdict, ledger: Ledger) -> Outcome:
    known = ledger.failures.get(claim.id)
    if verdict is Verdict.HOLDS:
        found = Class.ARITHMETIC if claim.kind == "arithmetic" else Class.HOLDS
        return Outcome(claim.id, found)
    if verdict is Verdict.IMPOSSIBLE:
        return Outcome(claim.id, Class.IMPOSSIBLE, claim.impossible)
    if verdict is Verdict.UNJUDGED:
        return Outcome(claim.id, Class.UNJUDGEABLE, claim.unjudged)
    if known is None and verdict is Verdict.TWICE:
        return Outcome(claim.id, Class.NS2)
    if known is None:
        raise KeyError(f"{claim.id} fails, and the ledger does not say why")
    return Outcome(claim.id, _CAUSES[known.cause], known.why)
