"""The gallery of figures and the counts of verdicts, from the full run kept in docs/gallery."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incast import units
from incast.reproduce import papers as texts
from incast.reproduce.judge import Verdict
from incast.reproduce.tally import together

GALLERY = Path(__file__).parent.parent / "gallery"
PAPERS = texts.load(GALLERY.parent.parent / "papers")
KEPT: dict[str, Any] = json.loads((GALLERY / "claims.json").read_text())
NOISY: dict[str, Any] = json.loads((GALLERY / "noise.json").read_text())

MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.FAILS: "✗",
    Verdict.TWICE: "✗✗",
    Verdict.IMPOSSIBLE: "∅",
    Verdict.UNJUDGED: "–",
    Verdict.SOME: "(✓)",
}


def verdicts() -> Iterator[str]:
    """Write a table with the number of claims of each verdict and text."""
    heads = [str(verdict) for verdict in Verdict]
    yield f"| text | figures | runs | claims | {' | '.join(heads)} |"
    yield "| :-- |" + " --: |" * (3 + len(heads))
    total: list[int] = []
    for name in PAPERS:
        figures = [one for one in KEPT["figures"] if one["text"] == name]
        claims = {one["id"]: one for one in KEPT["claims"] if one["text"] == name}
        found = {name: Verdict(one["verdict"]) for name, one in claims.items()}
        readings = {name: one["reading_of"] for name, one in claims.items() if one["reading_of"]}
        counts = Counter(together(found, readings).values())
        row = [len(figures), sum(one["runs"] for one in figures), counts.total()]
        row += [counts[Verdict(head)] for head in heads]
        total = [a + b for a, b in zip(total or [0] * len(row), row, strict=True)]
        link = f"[{name}](/validation/claims-{name}.md)"
        yield f"| {link} | {' | '.join(map(str, row))} |"
    yield f"| together | {' | '.join(map(str, total))} |"
    shared = "A run that several figures share counts in each of them."
    yield f"\n{shared} Several readings of a claim count as one claim."


def gallery(text: str) -> Iterator[str]:
    """Write the figures of a text with pictures, numbers and claims, and the text's omissions."""
    paper = PAPERS[text]
    yield f"{paper.base.title}.\n"
    for about in KEPT["figures"]:
        if about["text"] == text:
            yield from _figure(paper, about)
    yield "\n## What the text leaves out for all figures\n"
    yield from (f"- {plain(note)}" for note in paper.base.assumptions)


def thumbnails() -> Iterator[str]:
    """Write small pictures of all figures, each with a link to its figure in the gallery."""
    for name, paper in PAPERS.items():
        yield f"\n## {paper.base.title}\n"
        for about in KEPT["figures"]:
            if about["text"] == name and about["picture"]:
                yield from _thumbnail(_chosen(paper, about))


def _thumbnail(chosen: texts.Chosen) -> Iterator[str]:
    yield f"```{{figure}} {chosen.name}.png"
    yield f":target: {chosen.paper.name}.html#{_anchor(chosen)}"
    yield f":alt: {plain(chosen.figure.title)}"
    yield ":figclass: thumbnail"
    yield f"\n{_heading(chosen)}\n```\n"


def _heading(chosen: texts.Chosen) -> str:
    return f"{chosen.place[0].upper()}{chosen.place[1:]}: {chosen.figure.title}"


def _anchor(chosen: texts.Chosen) -> str:
    return f"{chosen.paper.name}-{chosen.number}".replace(".", "-").lower()


def _chosen(paper: texts.Paper, about: dict[str, Any]) -> texts.Chosen:
    return texts.Chosen(paper, about["figure"], paper.figures[about["figure"]])


def _figure(paper: texts.Paper, about: dict[str, Any]) -> Iterator[str]:
    chosen = _chosen(paper, about)
    number, figure = chosen.number, chosen.figure
    yield f"\n({_anchor(chosen)})="
    yield f"## {_heading(chosen)}\n"
    runs = f"{units.plural(about['runs'], 'run')}" if about["runs"] else "no run"
    unfinished = about["unfinished"]
    lost = f", {unfinished} of them did not end and are not counted" if unfinished else ""
    again = f"`incast reproduce {chosen.name}`, {runs}{lost}"
    if about["picture"]:
        file = f"{paper.name}/{number}"
        yield f"![{plain(figure.title)}]({file}.png)\n"
        yield f"{{download}}`The numbers (CSV) <{file}.csv>`; {again}.\n"
    else:
        yield f"No picture; {again}.\n"
    if figure.described:
        yield "What the text says of the figure:\n"
        for said in figure.described:
            yield f"- {f'*{plain(said.curve)}*: ' if said.curve else ''}{plain(said.says)}"
        yield ""
    claims = [one for one in KEPT["claims"] if (one["text"], one["figure"]) == (paper.name, number)]
    if claims:
        yield "| | the text says | measured |\n| :-- | :-- | :-- |"
    for claim in claims:
        mark = MARKS[Verdict(claim["verdict"])]
        told = [claim["measured"], claim["note"]]
        if claim["reference"]:
            told.append(f"In ns-2's data {claim['reference']}")
        noisy = _with_noise(claim)
        if noisy["verdict"] != claim["verdict"]:
            told.append(f"With clock noise: {noisy['verdict']}, {noisy['measured']}")
        measured = ". ".join(part.rstrip(".") for part in map(plain, told) if part)
        says = f"{plain(claim['says'])} ({claim['id']})"
        yield f"| {mark} {claim['verdict']} | {says} | {measured} |"
    if figure.assumptions:
        yield "\n" + "\n".join(f"- {plain(note)}" for note in figure.assumptions) + "\n"


def _with_noise(claim: dict[str, Any]) -> dict[str, Any]:
    """Return the claim as judged in the run in which no two hosts have the same clock."""
    own = (claim["text"], claim["id"])
    return next(one for one in NOISY["claims"] if (one["text"], one["id"]) == own)


def plain(text: str) -> str:
    """Escape the special characters of Markdown in a string."""
    for sign in ("\\", "|", "*", "_", "<", "`"):
        text = text.replace(sign, f"\\{sign}")
    return text
