"""The gallery: one HTML file with every picture and its parameters, verdicts and data."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from incast import _core, units
from incast.reproduce.execute import Done, counts
from incast.reproduce.figure import Figure
from incast.reproduce.judge import Judgement, Verdict
from incast.reproduce.papers import Paper, merged
from incast.reproduce.pictures import Files
from incast.results import files

Pictures = Mapping[str, Files]  # by the names of their figures

_MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.FAILS: "✗",
    Verdict.TWICE: "✗✗",
    Verdict.IMPOSSIBLE: "∅",
    Verdict.UNJUDGED: "–",
    Verdict.SOME: "(✓)",
}
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }
h1 { font-size: 1.3rem } h2 { margin-top: 3rem; border-bottom: 1px solid #bbb }
h3 { margin: 2.5rem 0 .4rem } .counts { font-size: 1.15rem; font-weight: 600 }
img { max-width: 100%; border: 1px solid #ddd } table { border-collapse: collapse; width: 100% }
td, th { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0;
         border-bottom: 1px solid #e4e4e4 } th { font-weight: 600 }
.small { color: #666; font-size: .87rem } code { font-size: .87rem }
td.verdict { white-space: nowrap }
.holds { color: #006644 } .fails, .refuted { color: #a33000; font-weight: 600 }
.impossible, .not { color: #666 } summary { cursor: pointer } nav { columns: 3; font-size: .9rem }
"""


def write(done: Sequence[Done], pictures: Pictures, out: Path, *, quick: bool) -> None:
    """Write `index.html` as a whole; after an error, the previous file remains."""
    files.write_whole(out / "index.html", page(done, pictures, quick=quick).encode())


def sentence(found: Mapping[str, int]) -> str:
    """Return the verdicts of the claims in one line."""
    twice = found[Verdict.TWICE]
    fails = found[Verdict.FAILS] + twice
    some = found[Verdict.SOME]
    split = f", {some} hold in one reading and fail in another" if some else ""
    also = f" ({twice} of them in ns-2's own data, too)" if twice else ""
    return (
        f"{units.plural(sum(found.values()), 'claim')}: {found[Verdict.HOLDS]} hold{split}, "
        f"{fails} fail{also}, {found[Verdict.IMPOSSIBLE]} impossible by arithmetic, "
        f"{found[Verdict.UNJUDGED]} not judged"
    )


def page(done: Sequence[Done], pictures: Pictures, *, quick: bool) -> str:
    """Return the whole page; `pictures` has the pictures by the names of the figures."""
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    engine = sum(one.engine_s for one in done)
    mode = "a quick look with fewer points and seeds; " if quick else ""
    links = "".join(
        f'<div><a href="#{escape(one.work.chosen.name)}">{escape(one.work.chosen.name)}</a> '
        f"{_tally(one.judgements)}</div>"
        for one in done
    )
    texts = "".join(
        f"<h2>{escape(base)}</h2>" + "".join(_figure(one, pictures) for one in group)
        for base, group in groupby(done, key=lambda one: one.work.chosen.paper.base.title)
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Figures of the literature'
        f"</title><style>{_STYLE}</style>\n"
        f'<p class="counts">{escape(sentence(counts(done)))}</p>\n'
        f'<p class="small">{mode}engine {escape(_core.version())}; {when}; '
        f"{units.duration(engine)} of the engine's time. "
        "✓ holds, ✗ fails, ✗✗ fails in ns-2's own data, too, ∅ impossible by arithmetic, "
        "– not judged.</p>\n"
        f"{'' if quick else _scorecards(done)}<nav>{links}</nav>\n{texts}</html>\n"
    )


def _scorecards(done: Sequence[Done]) -> str:
    """Show the headlines of the texts whose figures have all been run."""
    papers = {one.work.chosen.paper.name: one.work.chosen.paper for one in done}
    ran = {one.work.chosen.name for one in done}
    return "".join(
        _scorecard(paper, done)
        for paper in papers.values()
        if all(f"{paper.name}/{number}" in ran for number in paper.figures)
    )


def _scorecard(paper: Paper, done: Sequence[Done]) -> str:
    marks = {
        judgement.claim.id: _MARKS[judgement.verdict]
        for one in done
        if one.work.chosen.paper.name == paper.name
        for judgement in one.judgements
    }
    rows = []
    for one in paper.scorecard.headlines:
        rests = ", ".join(f"{marks[name]} {escape(name)}" for name in one.claims)
        told = (one.headline, one.says, one.found, one.verdict)
        rows.append("".join(f"<td>{escape(part)}</td>" for part in told) + f"<td>{rests}</td>")
    heads = "".join(
        f"<th>{head}</th>" for head in ("headline", "the text", "we find", "verdict", "claims")
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    title = f"<h2>{escape(paper.base.title)}: its headlines</h2>"
    return f"{title}<table><tr>{heads}</tr>{body}</table>\n" if rows else ""


def _tally(judgements: Sequence[Judgement]) -> str:
    return " ".join(_MARKS[judgement.verdict] for judgement in judgements)


def _figure(done: Done, pictures: Pictures) -> str:
    work, figure = done.work, done.work.figure
    name = escape(work.chosen.name)
    parts = [f'<h3 id="{name}">{name}: {escape(figure.title)}</h3>']
    picture = pictures.get(work.chosen.name)
    if picture is not None:
        parts.append(_picture(picture, work.chosen.name))
    elif figure.search is not None:
        parts.append(
            f"<p>None of {figure.search.seeds} seeds has a run that meets the conditions of the "
            "search.</p>"
        )
    parts += _described(figure)
    if done.curves.unfinished:
        parts.append(
            f"<p>{units.plural(done.curves.unfinished, 'run')} did not finish and are not "
            "counted.</p>"
        )
    if done.judgements:
        rows = "".join(map(_claim, done.judgements))
        parts.append(
            f"<table><tr><th></th><th>the text says</th><th>measured</th></tr>{rows}</table>"
        )
    notes = [*work.chosen.paper.base.assumptions, *figure.assumptions]
    if notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        told = f"{units.plural(len(notes), 'thing')} that the text leaves out"
        parts.append(f"<details><summary>{told}</summary><ul>{items}</ul></details>")
    if work.needs:
        runs = units.plural(len({job.key for job in work.jobs()}), "run")
        told = f"parameters; {runs}, {units.duration(done.engine_s)} of the engine's time"
        parts.append(f"<details><summary>{told}</summary>{_parameters(done)}</details>")
    return "\n".join(parts)


def _picture(picture: Files, name: str) -> str:
    source = f"data:image/png;base64,{b64encode(picture.png).decode()}"
    table = f"data:text/csv;base64,{b64encode(picture.csv).decode()}"
    file = f"{name.replace('/', '-')}.csv"
    return (
        f'<img src="{source}" alt="{escape(name)}">'
        f'<p class="small"><a download="{escape(file)}" href="{table}">the numbers (CSV)</a></p>'
    )


def _described(figure: Figure) -> list[str]:
    said = (
        f"{f'<strong>{escape(one.curve)}</strong>: ' if one.curve else ''}{escape(one.says)}"
        for one in figure.described
    )
    items = "".join(f"<li>{one}</li>" for one in said)
    return [f"<p>What the text says about this picture:</p><ul>{items}</ul>"] if items else []


def _claim(judgement: Judgement) -> str:
    verdict, claim = judgement.verdict, judgement.claim
    told = [escape(judgement.measured), f"<em>{escape(judgement.note)}</em>" * bool(judgement.note)]
    if judgement.reference:
        told.append(f'<span class="small">in ns-2\'s data {escape(judgement.reference)}</span>')
    return (
        f'<tr><td class="verdict {verdict.split()[0]}">{_MARKS[verdict]} {verdict}</td>'
        f'<td>{escape(claim.says)} <span class="small">{escape(claim.id)}, {claim.kind}</span></td>'
        f"<td>{'<br>'.join(part for part in told if part)}</td></tr>"
    )


def _parameters(done: Done) -> str:
    work, figure = done.work, done.work.figure
    tree = merged(work.chosen.paper.base.scenario, figure.scenario)
    lines = [f"{key} = {value}" for key, value in _flat(tree)]
    if figure.x is not None:
        lines.append(f"{figure.x.key} = {work.xs} (the axis)")
    for need in work.needs:
        model = need.series.model or need.series.answer.get("function", "")
        made = f"model {model}" if model else ""
        own = [made, *(f"{key} = {value}" for key, value in need.series.set.items())]
        lines.append(
            f"{need.series.label}: {', '.join(part for part in own if part) or 'as above'}"
        )
    return "<p>" + "<br>".join(f"<code>{escape(line)}</code>" for line in lines) + "</p>"


def _flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in tree.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", value))
    return found
