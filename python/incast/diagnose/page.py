"""The report as one self-contained HTML file without scripts, in which every string is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from incast.diagnose import text

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2em .9em .2em 0;
border-bottom: 1px solid #ddd; vertical-align: top; } img { max-width: 100%; }
"""


def html(report: Mapping[str, Any], pictures: Sequence[tuple[str, str]] = ()) -> str:
    """Return the page.

    Parameters
    ----------
    report
        The report.
    pictures
        The title of each picture, and the picture as PNG in base 64.
    """
    title = escape(text.answer(report).partition(":")[0])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        f"<style>{_STYLE}</style></head><body>\n{body(report, pictures)}\n</body></html>\n"
    )


def body(report: Mapping[str, Any], pictures: Sequence[tuple[str, str]] = ()) -> str:
    """Return the body of the page, which another page can include."""
    parts = [_tag("h1", text.answer(report))]
    told = (*text.reasons(report), *text.about(report), *text.notes(report))
    parts += [_tag("p", sentence) for sentence in told]
    for title, image in pictures:
        parts.append(_tag("h2", title))
        parts.append(f'<img alt="{escape(title, quote=True)}" src="data:image/png;base64,{image}">')
    for title, rows in (
        ("Episodes", text.episodes(report)),
        ("Stalls by cause", text.causes(report)),
        ("Stalls", text.stalls(report)),
    ):
        if len(rows) > 1:
            parts += [_tag("h2", title), _table(rows[0], rows[1:])]
    parts.append(_tag("h2", "What resembles incast"))
    parts.append(_table(("name", "answer", "why"), text.look_alikes(report)))
    if unknown := text.cannot_tell(report):
        parts.append(_tag("h2", "What this capture cannot tell"))
        parts += [_tag("p", sentence) for sentence in unknown]
    parts.append(_tag("h2", "Files"))
    parts.append(_table(("file", "frames", "TCP packets"), text.files(report)))
    return "\n".join(parts)


def _tag(name: str, content: str) -> str:
    return f"<{name}>{escape(content)}</{name}>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first = "".join(_tag("th", cell) for cell in head)
    others = "".join(f"<tr>{''.join(_tag('td', cell) for cell in row)}</tr>\n" for row in rows)
    return f"<table><tr>{first}</tr>\n{others}</table>"
