"""The table for the eye, and the sentence under it."""

from collections.abc import Sequence

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from incast import units
from incast.results import Results
from incast.results.causes import CAUSES
from incast.results.series import named
from incast.results.verdict import sentences
from incast.scenario.facts import of_plan

_NONE = "–"
_TOTAL = "all"


def render(results: Results, console: Console, groups: Sequence[str] = (_TOTAL,)) -> None:
    """Print the scenario in base units, a table per group, and the verdict on the read itself."""
    swept = results.plan.swept
    console.print(f"[bold]{escape(results.plan.title or 'Untitled scenario')}[/bold]")
    console.print(_scenario(results), highlight=False)
    for group in groups:
        if list(groups) != [_TOTAL]:
            console.print(f"\n[bold]group {escape(group)}[/bold]")
        summary = results.summary(group)
        console.print(_table(summary, swept))
        if group == _TOTAL:
            for sentence in sentences(summary, swept, results.resolved):
                console.print(escape(sentence), highlight=False, soft_wrap=True)


def _scenario(results: Results) -> str:
    """Echo what was resolved, leaving out what the sweep changes."""
    points = units.plural(len(results.plan.points), "point")
    seeds = units.plural(len(results.plan.seeds), "seed")
    return f"{of_plan(results.plan)}; {points} × {seeds}"


def _table(summary: pl.DataFrame, swept: list[str]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    rows = summary.to_dicts()
    for key in named({key: rows[0][key] for key in swept}):
        table.add_column(_heading(key, swept), justify="right", no_wrap=True)
    several = summary["runs"].max() != 1
    table.add_column("goodput\nMbps", justify="right", no_wrap=True)
    if several:
        table.add_column("95 % CI\n± Mbps", justify="right", no_wrap=True)
    blocks = summary["timeouts_per_block"].is_not_null().any()
    for heading in ("block p50", "block p99", "timeouts\nper block" if blocks else "timeouts"):
        table.add_column(heading, justify="right", no_wrap=True)
    causes = [name for name in CAUSES if (summary[name].sum() or 0) > 0]
    for name in causes:
        table.add_column(CAUSES[name].replace(" ", "\n", 1), justify="right", no_wrap=True)
    for heading in ("queue max\npackets", "fair-\nness", "link\nbusy"):
        table.add_column(heading, justify="right", no_wrap=True)
    unwell = summary["status"].ne("ok").any()
    if unwell:
        table.add_column("not finished", no_wrap=True)
    for row in rows:
        cells = list(named({key: row[key] for key in swept}).values())
        cells.append(_mega(row["goodput_bps"]))
        if several:
            cells.append(_mega(row["goodput_bps_ci95"]))
        cells += [_time(row["completion_p50_s"]), _time(row["completion_p99_s"])]
        cells.append(_count(row["timeouts_per_block" if blocks else "timeouts"]))
        cells += [_share(row[name], row["timeouts"]) for name in causes]
        cells += [_whole(row["queue_max_packets"]), _index(row["fairness"])]
        cells.append(_share(row["link_utilization"], 1.0))
        if unwell:
            cells.append("" if row["status"] == "ok" else row["status"])
        table.add_row(*map(escape, cells))
    return table


def _heading(key: str, swept: list[str]) -> str:
    """Shorten a dotted key to its last word, where that is enough to tell it apart."""
    short = key.rpartition(".")[2]
    if short == "name" or [other.rpartition(".")[2] for other in swept].count(short) > 1:
        short = key.replace(".", "\n", 1)
    return escape(short)


def _mega(value: float | None) -> str:
    return _NONE if value is None else f"{value / 1e6:.1f}"


def _time(value: float | None) -> str:
    return _NONE if value is None else units.time(value, trim=False)


def _count(value: float | None) -> str:
    return _NONE if value is None else units.number(value, 2)


def _whole(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0f}"


def _index(value: float | None) -> str:
    return _NONE if value is None else f"{value:.2f}"


def _share(part: float | None, whole: float | None) -> str:
    return units.percent(part / whole) if part is not None and whole else _NONE
