"""Verdicts of claims: two readings of a claim combined, and every claim in one class."""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from incast.reproduce.figure import Claim
from incast.reproduce.judge import Verdict
from incast.reproduce.ledger import Ledger
from incast.reproduce.papers import Paper

Name = TypeVar("Name", bound=Hashable)


class Class(StrEnum):
    """Where a claim ends."""

    HOLDS = "holds"
    SOME = "holds in one reading"
    TEXT = "fails: text against itself"
    NS2 = "fails: refuted by ns-2 too"
    US = "fails: refuted by us"
    ARITHMETIC = "arithmetic"
    MERGED = "merged"
    UNJUDGEABLE = "not judgeable"
    OPEN = "open"


@dataclass(frozen=True)
class Outcome:
    """A claim, its class, and why."""

    id: str
    found: Class
    why: str = ""


_FAILED = {Verdict.FAILS, Verdict.TWICE}
_CAUSES = {"text against itself": Class.TEXT, "refuted by us": Class.US, "open": Class.OPEN}


def together(
    verdicts: Mapping[Name, Verdict], reading_of: Mapping[Name, Name]
) -> dict[Name, Verdict]:
    """Return one verdict for each claim, whatever number of readings it is judged by.

    Parameters
    ----------
    verdicts
        What each reading came to.
    reading_of
        For other readings: their claim. One whose claim has no verdict counts alone.
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


def outcomes(paper: Paper, verdicts: Mapping[str, Verdict]) -> Iterator[Outcome]:
    """Return the class of every claim of a text, including merged and dropped ones.

    Parameters
    ----------
    paper
        The text.
    verdicts
        Claim to verdict, of a full run.

    Raises
    ------
    KeyError
        A claim has no verdict, or fails and the text's ledger does not say why.
    """
    ledger = paper.ledger
    claims = [claim for figure in paper.figures.values() for claim in figure.claims]
    readings = {claim.id: claim.reading_of for claim in claims if claim.reading_of}
    whole = together(verdicts, readings)
    for claim in claims:
        if claim.reading_of:
            why = f"{claim.reading_of}, of which it is another reading: {verdicts[claim.id]}"
            yield Outcome(claim.id, Class.MERGED, why)
        elif whole[claim.id] is Verdict.SOME:
            said = [f"{name}: {verdicts[name]}" for name, of in readings.items() if of == claim.id]
            own = f"as read first: {verdicts[claim.id]}"
            yield Outcome(claim.id, Class.SOME, "; ".join([own, *said]))
        else:
            yield _outcome(claim, whole[claim.id], ledger)
    yield from (Outcome(name, Class.MERGED, into) for name, into in ledger.merged.items())
    yield from (Outcome(name, Class.UNJUDGEABLE, why) for name, why in ledger.dropped.items())


def _outcome(claim: Claim, verdict: Verdict, ledger: Ledger) -> Outcome:
    known = ledger.failures.get(claim.id)
    if verdict is Verdict.HOLDS:
        found = Class.ARITHMETIC if claim.kind == "arithmetic" else Class.HOLDS
        return Outcome(claim.id, found)
    if verdict is Verdict.IMPOSSIBLE:
        return Outcome(claim.id, Class.TEXT, claim.impossible)
    if verdict is Verdict.UNJUDGED:
        return Outcome(claim.id, Class.UNJUDGEABLE, claim.unjudged)
    if verdict is Verdict.TWICE:
        return Outcome(claim.id, Class.NS2, known.why if known else "")
    if known is None:
        raise KeyError(f"{claim.id} fails, and the ledger does not say why")
    return Outcome(claim.id, _CAUSES[known.cause], known.why)
