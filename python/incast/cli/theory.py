"""How `incast model` writes what models say."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from incast.cli.output import save

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from incast.cli.run import Format
    from incast.models.theory import Theory


_HEADINGS = {"completion_s": "block mean", "timeouts_per_block": "timeouts\nper block"}


def write(theory: "Theory", form: "Format", out: Path | None) -> None:
    """Write answers in the form asked for; reasons go with them, or to stderr."""
    rows = theory.frame.drop("point", strict=False)
    if form == "table":
        _table(theory)
        return
    if form == "json":
        # What a model does not know is left out of its rows.
        answered = [{k: v for k, v in row.items() if v is not None} for row in rows.to_dicts()]
        tree = {
            "scenario": theory.plan.to_dict(),
            "rows": answered,
            "not_applicable": theory.refusals,
        }
        typer.echo(json.dumps(tree, allow_nan=False))
        return
    for line in _refusals(theory.refusals):
        typer.echo(f"incast: {line}", err=True)
    save(rows, form, out and out / f"model.{form}")


def _table(theory: "Theory") -> None:
    from rich.markup import escape

    from incast.cli.console import Paper
    from incast.scenario.facts import of_plan

    console = Paper(160)
    plan = theory.plan
    console.print(f"[bold]{escape(plan.title or 'Untitled scenario')}[/bold]")
    console.print(of_plan(plan), highlight=False)
    answered = theory.frame["model"].unique(maintain_order=True) if theory.frame.height else ()
    for name in answered:
        _answers(console, name, theory.frame, plan.swept)
    for line in _refusals(theory.refusals):
        console.print(escape(line), highlight=False, soft_wrap=True)


def _refusals(reasons: dict[str, str]) -> list[str]:
    """Say a reason once for all models that share it."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [
        f"{', '.join(those)} {'does' if len(those) == 1 else 'do'} not apply: {reason}"
        for reason, those in names.items()
    ]


def _answers(console: "Console", name: str, frame: "pl.DataFrame", swept: list[str]) -> None:
    """Print what one model knows, a row per point."""
    import polars as pl
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    from incast.models import MODELS

    answers = frame.filter(pl.col("model") == name)
    known = [column for column in answers.columns if answers[column].null_count() < answers.height]
    known = [column for column in known if column not in {"point", "model", *swept}]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=name, title_justify="left")
    for column in (*swept, *known):
        table.add_column(
            escape(_heading(column.removeprefix(f"{name}."))), justify="right", no_wrap=True
        )
    for row in answers.to_dicts():
        cells = [str(row[key]) for key in swept]
        table.add_row(*map(escape, cells + [_cell(column, row[column]) for column in known]))
    console.print(table)
    for measure in MODELS[name].measures:
        if f"{name}.{measure.name}" in known:
            about = f"{measure.name}: {measure.summary}"
            console.print(escape(about), highlight=False, soft_wrap=True)
    if MODELS[name].measures:
        console.print()


def _heading(column: str) -> str:
    """Name a column as the table of `incast run` does."""
    if column in _HEADINGS:
        return _HEADINGS[column]
    return column.removesuffix("_bps") + "\nMbps" if column.endswith("_bps") else column


def _cell(column: str, value: float | None) -> str:
    from incast import units

    if value is None:
        return "–"
    if column.endswith("_bps"):
        return f"{value / 1e6:.1f}"
    if column.endswith("_s"):
        return units.time(value, trim=False)
    return f"{value:.0f}" if float(value).is_integer() else units.number(value, 3)
