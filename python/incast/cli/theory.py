"""Output of `incast model`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from incast.cli.output import save

if TYPE_CHECKING:
    import polars as pl

    from incast.cli.console import Paper
    from incast.cli.output import Format, Layout
    from incast.models.theory import Theory


_HEADINGS = {"completion_s": "block mean", "timeouts_per_block": "timeouts\nper block"}


def write(theory: "Theory", form: "Format", out: Path | None, layout: "Layout") -> None:
    """Write answers in the requested format, and reasons why models do not apply."""
    rows = theory.frame.drop("point", strict=False)
    if form == "table":
        _table(theory, layout)
        return
    if form == "json":
        # Columns that a model cannot predict are left out of its rows.
        answered = [{k: v for k, v in row.items() if v is not None} for row in rows.to_dicts()]
        tree = {
            "scenario": theory.plan.to_dict(),
            "rows": answered,
            "not_applicable": theory.refusals,
            "trust": theory.trust(),
        }
        typer.echo(json.dumps(tree, allow_nan=False))
        return
    for line in _refusals(theory.refusals):
        typer.echo(f"incast: {line}", err=True)
    save(rows, form, out and out / f"model.{form}")


def known() -> list[str]:
    """Return the columns that models predict."""
    from incast.models import COLUMNS, MODELS

    own = [
        f"{model.name}.{measure.name}" for model in MODELS.values() for measure in model.measures
    ]
    return [*sorted(COLUMNS), *own]


def _table(theory: "Theory", layout: "Layout") -> None:
    from incast.cli.console import Paper
    from incast.scenario.facts import of_plan

    paper = Paper(wide=layout.wide)
    plan = theory.plan
    paper.heading(plan.title or "Untitled scenario")
    paper.sentence(of_plan(plan))
    answered = theory.frame["model"].unique(maintain_order=True) if theory.frame.height else ()
    for name in answered:
        _answers(paper, name, theory.frame, plan.swept, layout.names)
    if told := theory.first_burst_only():
        paper.sentence(told)
    for line in _refusals(theory.refusals):
        paper.sentence(line)


def _refusals(reasons: dict[str, str]) -> list[str]:
    """Return each reason once, with the names of all models that it applies to."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        names.setdefault(reason, []).append(name)
    return [
        f"{', '.join(those)} {'does' if len(those) == 1 else 'do'} not apply: {reason}"
        for reason, those in names.items()
    ]


def _answers(
    paper: "Paper", name: str, frame: "pl.DataFrame", swept: list[str], names: Sequence[str]
) -> None:
    """Print the answers of one model, a row per point."""
    import polars as pl

    from incast.grid import Column
    from incast.models import MODELS
    from incast.results.columns import keys

    answers = frame.filter(pl.col("model") == name)
    answered = [
        column
        for column in answers.columns
        if answers[column].null_count() < answers.height
        and column not in {"point", "model", *swept}
    ]
    shown = [column for column in names if column in answered] if names else answered
    if not shown:
        paper.sentence(f"{name} does not predict {', '.join(names)}.")
        return
    columns = []
    for column in shown:
        heading, cells = _written(column.removeprefix(f"{name}."), answers[column])
        # --columns sets the order; otherwise the column that all models have comes first.
        rank = shown.index(column) if names else int(column != "goodput_bps")
        columns.append(Column(column, heading, cells, rank))
    paper.table(keys(answers, swept), columns, title=name)
    for measure in MODELS[name].measures:
        if f"{name}.{measure.name}" in shown:
            paper.sentence(f"{measure.name}: {measure.summary}", "  ")
    trust = MODELS[name].say(answers)
    if trust:
        paper.sentence(trust, "  ")
    if MODELS[name].measures:
        paper.print()


def _written(column: str, values: "pl.Series") -> tuple[str, list[str]]:
    """Return the heading and the cells of a column, as in the table of `incast run`."""
    from incast import units

    if column.endswith("_bps"):
        unit, write = units.rates(values)
        return f"{column.removesuffix('_bps')}\n{unit}", [write(value) for value in values]
    return _HEADINGS.get(column, column), [_cell(column, value) for value in values]


def _cell(column: str, value: float | None) -> str:
    from incast import units

    if value is None:
        return units.NONE
    if column.endswith("_s"):
        return units.time(value, trim=False)
    return f"{value:.0f}" if float(value).is_integer() else units.number(value, 3)
