"""Curves that come from a model of `incast.models`."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from incast.errors import FigureError
from incast.models import MODELS, NotApplicable
from incast.models.estimation import ask
from incast.reproduce.arithmetic import evaluate
from incast.reproduce.data import Curves
from incast.reproduce.quantity import Quantity
from incast.reproduce.strict import choose
from incast.results import Results
from incast.scenario.plan import Point


def answers(model: str, points: Sequence[Point], label: str) -> pl.DataFrame:
    """Return a row for each point that a model answers, with `x` and the answer's columns.

    Columns called `<model>.<name>` are renamed to `<name>`. Points to which the model does not
    apply are left out.

    Raises
    ------
    FigureError
        There is no such model, or the model applies to none of the points.
    """
    chosen = choose(model, MODELS, f"{label}: model")
    rows, why = [], ""
    for x, point in enumerate(points):
        answer = chosen.answer(point)
        if isinstance(answer, NotApplicable):
            why = answer.reason
            continue
        own = {name.removeprefix(f"{model}."): float(value) for name, value in answer.items()}
        rows.append({"x": x, "seed": 0, "status": "ok", **own})
    if not rows:
        raise FigureError(f"{label}: {model} does not apply: {why}")
    return pl.DataFrame(rows, infer_schema_length=None)


def answers_to_runs(model: str, results: Results, label: str) -> pl.DataFrame:
    """Return a row per run, with a model's answer for the measurements of the run.

    Parameters
    ----------
    model
        Name of the model.
    results
        The runs, with the trace `events`.
    label
        Label of the curve, for messages.

    Raises
    ------
    FigureError
        There is no such model, or the model applies to none of the runs.
    """
    choose(model, MODELS, f"{label}: model")
    asked = ask(results, [model])
    if asked.is_empty():
        raise FigureError(f"{label}: {model} does not apply")
    names = {name: name.removeprefix(f"{model}.") for name in asked.columns}
    told = asked.drop("model", *results.plan.swept).rename(
        {name: short for name, short in names.items() if name.startswith(f"{model}.")}
    )
    return told.rename({"point": "x"}).with_columns(pl.lit("ok").alias("status"))


def computed(answer: Mapping[str, Any], xs: Sequence[Any], column: str, label: str) -> pl.DataFrame:
    """Return a row per point; the drawn metric is the value of a function of `incast.models`.

    Parameters
    ----------
    answer
        The table for a number, as in a claim. Strings among its keyword arguments are formulas of
        `x`.
    xs
        The points.
    column
        The name of the metric.
    label
        Label of the curve, for messages.

    Raises
    ------
    FigureError
        The function, one of its keyword arguments or a formula is invalid.
    """
    where = f"{label}: answer"
    rows = []
    for index, x in enumerate(xs):
        given = _at(answer.get("with", {}), x, where)
        number = Quantity.from_toml({**answer, "with": given}, where)
        if not number.function:
            raise FigureError(f"{where}: must have a function")
        row = {"x": index, "seed": 0, "status": "ok", column: number.of(Curves({}, None))}
        rows.append(row)
    return pl.DataFrame(rows)


def _at(given: Mapping[str, Any], x: Any, where: str) -> dict[str, Any]:  # noqa: ANN401
    def one(key: str, value: Any) -> Any:  # noqa: ANN401 (whatever a keyword takes)
        if isinstance(value, Mapping):
            return _at(value, x, where)
        formula = isinstance(value, str) and key != "function"
        return evaluate(value, {"x": float(x)}, where) if formula else value

    return {key: one(key, value) for key, value in given.items()}
