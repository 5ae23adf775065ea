"""Advice as one HTML file that loads no other file."""

from collections.abc import Sequence
from html import escape

from incast import units
from incast.advise.advice import Advice
from incast.advise.search import Advised, Gain
from incast.scenario.facts import words

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .8rem .3rem 0;"
    "border-bottom:1px solid #bbb;vertical-align:top}pre{background:#f3f3f3;padding:.6rem;"
    "overflow:auto}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}"
    "pre{background:#222}}"
)


def page(told: Sequence[tuple[str, Advice]]) -> str:
    """Return the page: one answer for each value of a sweep, or a single answer."""
    title = told[0][1].case.scenario.plan.title or "Untitled scenario"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + body(told)
        + "\n</body></html>\n"
    )


def body(told: Sequence[tuple[str, Advice]]) -> str:
    """Return the body of the page, to be put into another page."""
    title = told[0][1].case.scenario.plan.title or "Untitled scenario"
    parts = [f"<h1>{escape(title)}</h1>"]
    for value, advice in told:
        parts += [f"<h1>{escape(value)}</h1>"] if value else []
        parts += _answer(advice)
    return "\n".join(parts)


def _answer(advice: Advice) -> list[str]:
    case = advice.case
    return [
        _paragraph(words([case.here])),
        *(_paragraph(text) for text in (*case.notes, *advice.sentences())),
        _limit(advice),
        *_fixes(advice),
        *_tried(advice),
        *_elsewhere(advice),
        *_more(advice),
    ]


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def _limit(advice: Advice) -> str:
    name, why = escape(advice.limit.name), escape(advice.limit.sentences())
    return f"<p><b>Limiting resource: {name}.</b> {why}</p>"


def _fixes(advice: Advice) -> list[str]:
    if not advice.fixes:
        return [_paragraph(advice.nothing())]
    rows = [
        f"<tr><td>{number}</td><td>{escape(one.fix.who)}</td><td>{escape(one.fix.name)}</td>"
        f"<td>{units.rate(one.goodput.after)}</td><td>{_gain(one.goodput)}</td>"
        f"<td>{_gain(one.late) if one.late is not None else units.NONE}</td></tr>"
        for number, one in enumerate(advice.fixes, 1)
    ]
    head = "".join(
        f"<th>{name}</th>"
        for name in (
            "",
            "who",
            "fix",
            "goodput",
            "times (95 % CI)",
            f"block {advice.goal.label}, times (95 % CI)",
        )
    )
    return [
        "<h2>What to change</h2>",
        f"<table><tr>{head}</tr>{''.join(rows)}</table>",
        *(_fix(number, one) for number, one in enumerate(advice.fixes, 1)),
    ]


def _gain(gain: Gain) -> str:
    ratio, low, high = (units.number(value, 3) for value in (gain.ratio, gain.low, gain.high))
    return f"{ratio} ({low} to {high})"


def _fix(number: int, one: Advised) -> str:
    fix = one.fix
    return (
        f"<h3>{number}. {escape(fix.what)} ({escape(fix.who)})</h3>"
        f"<pre>{escape(fix.text)}</pre><p>Undo:</p><pre>{escape(fix.rollback)}</pre>"
        f"<p><b>Price:</b> {escape(' '.join(one.prices()))}</p>"
        f"<p><b>Risk:</b> {escape(fix.risk)}</p>"
    )


def _tried(advice: Advice) -> list[str]:
    rows = [
        f"<tr><td>{escape(one.fix.name)}</td><td>{escape(one.fix.who)}</td>"
        f"<td>{_ratio(one.ratio)}</td><td>{_ratio(one.late)}</td>"
        f"<td>{escape(one.why)}</td></tr>"
        for one in advice.found.tried
    ]
    if not rows:
        return []
    late = f"block {advice.goal.label}, times"
    head = "".join(f"<th>{name}</th>" for name in ("fix", "who", "goodput, times", late, "why"))
    return [
        "<h2>Tried, but not advised</h2>",
        f"<table><tr>{head}</tr>{''.join(rows)}</table>",
    ]


def _ratio(value: float | None) -> str:
    return units.NONE if value is None else units.number(value, 3)


def _elsewhere(advice: Advice) -> list[str]:
    if advice.elsewhere is None:
        return []
    items = "".join(
        f"<li>{escape(one.name)}: <code>{escape(one.command)}</code>; {escape(one.shows)}</li>"
        for one in advice.elsewhere.places
    )
    said = _paragraph(advice.elsewhere.sentence())
    return [said, f"<ul>{items}</ul>"] if items else [said]


def _more(advice: Advice) -> list[str]:
    parts = []
    if advice.research:
        items = "".join(
            f"<li>{escape(one.name)}: goodput × {units.number(one.ratio, 3)} "
            f"({escape(one.what)})</li>"
            for one in advice.research
        )
        parts += ["<h2>What remedies from research would gain</h2>", f"<ul>{items}</ul>"]
    if advice.sensitive_to:
        items = "".join(
            f"<li>{escape(one.name)} × {one.factor:g}: {escape(one.said)}. "
            f"{escape(one.measure)}</li>"
            for one in advice.sensitive_to
        )
        parts += ["<h2>Measure this first</h2>", f"<ul>{items}</ul>"]
    where = advice.envelope
    said = f"Envelope: {where.word}. {where.why} See {where.page}."
    return [*parts, _paragraph(said)]
