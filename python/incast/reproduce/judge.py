"""The verdicts on a text's claims."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from incast.errors import FigureError
from incast.reproduce.data import Curves, NoSuchRun, Unjudged
from incast.reproduce.figure import Claim
from incast.reproduce.predicates import Finding


class Verdict(StrEnum):
    """The verdict on a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    TWICE = "refuted twice"  # the claim fails in the other simulator's data, too
    IMPOSSIBLE = "impossible"  # by arithmetic
    UNJUDGED = "not judged"
    SOME = "holds in one reading"  # the combined verdict of several readings


@dataclass(frozen=True)
class Judgement:
    """A claim and its verdict.

    Parameters
    ----------
    claim
        The claim.
    verdict
        The verdict.
    measured
        The numbers that decided the verdict.
    note
        Why the claim is impossible or not judged.
    reference
        The verdict by the other simulator's data, if they were used.
    """

    claim: Claim
    verdict: Verdict
    measured: str = ""
    note: str = ""
    reference: str = ""


def judge(
    claims: Iterable[Claim], curves: Curves, other: Curves | None, name: str
) -> list[Judgement]:
    """Judge the claims of a figure.

    Parameters
    ----------
    claims
        The claims.
    curves
        The curves of the figure.
    other
        The other simulator's curves.
    name
        Name of the figure, for messages.
    """
    return [_one(claim, curves, other, f"{name}: {claim.id}") for claim in claims]


def _one(claim: Claim, curves: Curves, other: Curves | None, where: str) -> Judgement:
    if claim.unjudged:
        return Judgement(claim, Verdict.UNJUDGED, note=claim.unjudged)
    try:
        found = _find(claim, curves, where)
    except Unjudged as missing:
        return _missing(claim, missing)
    if claim.impossible:
        return Judgement(claim, Verdict.IMPOSSIBLE, found.measured, claim.impossible)
    there = _elsewhere(claim, other, where)
    told = f"{_word(there)}: {there.measured}" if there is not None else ""
    if found.holds:
        return Judgement(claim, Verdict.HOLDS, found.measured, reference=told)
    verdict = Verdict.TWICE if there is not None and not there.holds else Verdict.FAILS
    return Judgement(claim, verdict, found.measured, reference=told)


def _missing(claim: Claim, missing: Unjudged) -> Judgement:
    if claim.impossible:
        return Judgement(claim, Verdict.IMPOSSIBLE, note=claim.impossible)
    if isinstance(missing, NoSuchRun):  # no run is like the run that the text shows
        return Judgement(claim, Verdict.FAILS, measured=str(missing))
    return Judgement(claim, Verdict.UNJUDGED, note=str(missing))


def _find(claim: Claim, curves: Curves, where: str) -> Finding:
    if claim.predicate is None:
        raise FigureError(f"{where}: has nothing to check")
    try:
        return claim.predicate.judge(curves)
    except FigureError as error:
        raise FigureError(f"{where}: {error}") from None


def _elsewhere(claim: Claim, other: Curves | None, where: str) -> Finding | None:
    """Judge a claim by the other simulator's data, if they have all curves of the claim."""
    if other is None or claim.predicate is None:
        return None
    labels = claim.predicate.series()
    if not labels or not labels <= set(other.of):
        return None
    try:
        return _find(claim, other, where)
    except (Unjudged, FigureError):  # the other data lack a point or a column
        return None


def _word(finding: Finding) -> str:
    return str(Verdict.HOLDS if finding.holds else Verdict.FAILS)
