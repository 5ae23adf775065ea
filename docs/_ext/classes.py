"""The class of every claim and the headlines of the texts, from the kept run and the ledgers."""

from collections import Counter
from collections.abc import Iterator

from gallery import KEPT, MARKS, NOISY, PAPERS, plain

from incast.reproduce.judge import Verdict
from incast.reproduce.tally import Class, Outcome, outcomes


def of(text: str) -> list[Outcome]:
    """Return the class of every claim of a text."""
    verdicts, noisy = (
        {one["id"]: Verdict(one["verdict"]) for one in run["claims"] if one["text"] == text}
        for run in (KEPT, NOISY)
    )
    return list(outcomes(PAPERS[text], verdicts, noisy))


def classes() -> Iterator[str]:
    """Write a table with the number of claims of each class and text."""
    yield f"| class | {' | '.join(PAPERS)} | together |"
    yield "| :-- |" + " --: |" * (len(PAPERS) + 1)
    counts = {text: Counter(one.found for one in of(text)) for text in PAPERS}
    for found in Class:
        row = [counts[text][found] for text in PAPERS]
        yield f"| {found} | {' | '.join(map(str, [*row, sum(row)]))} |"
    row = [counts[text].total() for text in PAPERS]
    yield f"| together | {' | '.join(map(str, [*row, sum(row)]))} |"
    yield f"\n{_share(counts)}"


def _share(counts: dict[str, Counter[Class]]) -> str:
    total = sum(counts.values(), Counter[Class]())
    held = total[Class.HOLDS] + total[Class.READING]
    failed = sum(number for one, number in total.items() if one.startswith("fails"))
    judged = held + total[Class.TIES] + failed
    return (
        f"Runs can judge {judged} claims: {held} hold, {total[Class.TIES]} depend on ties, and "
        f"{failed} fail. Of the claims that hold, {total[Class.READING]} hold in one of several "
        "readings."
    )


def outcome(text: str) -> Iterator[str]:
    """Write the claims of a text, class by class."""
    found = of(text)
    for kind in Class:
        ones = [one for one in found if one.found is kind]
        if not ones:
            continue
        yield f"\n**{kind[0].upper()}{kind[1:]}** ({len(ones)})\n"
        if any(one.why for one in ones):
            yield from (f"- {one.id}: {plain(one.why)}" for one in ones)
        else:
            yield ", ".join(one.id for one in ones) + "."


def scorecard() -> Iterator[str]:
    """Write the headlines of all texts: the claim, the finding and the verdict."""
    for text, paper in PAPERS.items():
        yield f"\n### {paper.base.title}\n"
        yield "| headline | the text | we find | verdict | claims |"
        yield "| :-- | :-- | :-- | :-- | :-- |"
        found = {
            one["id"]: Verdict(one["verdict"]) for one in KEPT["claims"] if one["text"] == text
        }
        tied = {one.id for one in of(text) if one.found is Class.TIES}
        for one in paper.scorecard.headlines:
            claims = ", ".join(
                f"{MARKS[found[name]]} {name}{' (ties)' * (name in tied)}" for name in one.claims
            )
            parts = map(plain, (one.headline, one.says, one.found, one.verdict))
            yield f"| {' | '.join(parts)} | {claims} |"
