"""Results as a notebook displays them: the table and the verdicts."""

from html import escape

from incast import units
from incast.results import Results, columns
from incast.results.verdict import sentences
from incast.scenario.facts import of_plan

_RIGHT = ' style="text-align: right"'
_MOST_ROWS = 60  # a note replaces further rows


def page(results: Results) -> str:
    """Return what `incast run` prints, as HTML."""
    plan = results.plan
    lines = [f"<b>{escape(plan.title or 'Untitled scenario')}</b>"]
    lines.append(f"<div>{escape(of_plan(plan))}; {escape(results.extent)}</div>")
    if not len(results):
        return "\n".join([*lines, "<div>no run has finished</div>"])
    summary = results.summary()
    shown = [*columns.keys(summary, plan.swept), *columns.usual(summary)]
    heads = (escape(column.heading).replace("\n", "<br>") for column in shown)
    lines.append("<table><thead><tr>")
    lines += [f"<th{_RIGHT}>{head}</th>" for head in heads]
    lines.append("</tr></thead><tbody>")
    rows = list(zip(*(column.cells for column in shown), strict=True))
    for row in rows[:_MOST_ROWS]:
        cells = "".join(f"<td{_RIGHT}>{escape(units.plain(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    lines.append("</tbody></table>")
    if len(rows) > _MOST_ROWS:
        lines.append(f"<div>… and {len(rows) - _MOST_ROWS} more points</div>")
    told = sentences(summary, plan.swept, results.resolved)
    lines += [f"<div>{escape(units.plain(sentence))}</div>" for sentence in told]
    lines += [f"<div>{escape(note)}</div>" for note in results.notes]
    return "\n".join(lines)
