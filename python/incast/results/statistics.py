"""Means over seeds with 95 % confidence intervals."""

from collections import Counter
from typing import Any

import polars as pl

CONFIDENCE = 0.95
_NOT_QUANTITIES = {"point", "seed"}


def half_width(deviation: float, count: int) -> float:
    """Return half the width of the confidence interval of a mean.

    Parameters
    ----------
    deviation
        Sample standard deviation, with `count - 1` in its denominator.
    count
        Number of samples, at least 2.

    Returns
    -------
    float
        Student's t quantile x `deviation` / sqrt(`count`).
    """
    from scipy.special import stdtrit

    quantile = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return quantile * deviation / float(count**0.5)


def summarise(frame: pl.DataFrame, swept: list[str]) -> pl.DataFrame:
    """Return one row per point: for each quantity `x` its mean `x` and half-width `x_ci95`.

    `point` is its index in the plan. Only runs with the status "ok" enter a mean: `runs` counts
    all runs of the point, `ok` those that entered, and `status` is "ok" or says how many ended in
    which other way. `timeouts_per_block` is added to the quantities.

    Parameters
    ----------
    frame
        Result rows of one group, with the index of their `point` in the plan.
    swept
        The swept keys, constant at each point.
    """
    frame = frame.with_columns((pl.col("timeouts") / pl.col("blocks")).alias("timeouts_per_block"))
    quantities = [
        name
        for name, kind in frame.schema.items()
        if kind.is_numeric() and name not in _NOT_QUANTITIES and name not in swept
    ]
    rows = []
    for _, runs in frame.group_by("point", maintain_order=True):
        where = runs.row(0, named=True)
        row = {key: where[key] for key in ("point", *swept)}
        rows.append(row | _point(runs, quantities))
    floats = {column: pl.Float64 for name in quantities for column in (name, f"{name}_ci95")}
    types = {name: frame.schema[name] for name in swept}
    return pl.DataFrame(rows, schema_overrides={**types, **floats}, infer_schema_length=None)


def _point(runs: pl.DataFrame, quantities: list[str]) -> dict[str, Any]:
    whole = runs.filter(pl.col("status") == "ok")
    row: dict[str, Any] = {"runs": runs.height, "ok": whole.height, "status": _status(runs)}
    for name in quantities:
        values = whole[name].drop_nulls()
        count, deviation = len(values), values.std()
        row[name] = values.mean()
        row[f"{name}_ci95"] = half_width(float(deviation), count) if count > 1 else None  # type: ignore[arg-type]
    return row


def _status(runs: pl.DataFrame) -> str:
    ends = Counter(runs["status"].to_list())
    if set(ends) == {"ok"}:
        return "ok"
    return ", ".join(f"{count} of {runs.height} {end}" for end, count in sorted(ends.items()))
