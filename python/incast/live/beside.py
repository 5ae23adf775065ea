"""Simulation, real hosts and models in one table."""

from typing import TYPE_CHECKING

import polars as pl

from incast import units
from incast.grid import Column
from incast.results import Results, columns
from incast.results.intervals import HIGH, LOW

if TYPE_CHECKING:
    from incast.models.theory import Theory

_GOODPUT = "goodput_bps"


def table(
    simulated: Results, real: Results, theory: "Theory | None"
) -> tuple[list[Column], list[Column]]:
    """Return the key columns, and the columns of simulation, real hosts and models.

    Parameters
    ----------
    simulated, real
        The results of the same points.
    theory
        The models' answers, if any were requested.
    """
    ours = simulated.summary()
    theirs = _at(ours, real.summary())
    unit, write = units.rates(pl.concat([ours[_GOODPUT], theirs[_GOODPUT]]))
    ends = zip(theirs[f"{_GOODPUT}{LOW}"], theirs[f"{_GOODPUT}{HIGH}"], strict=True)
    interval = [units.NONE if low is None else f"{write(low)}–{write(high)}" for low, high in ends]
    timeouts = [
        Column(name, f"timeouts\n{who}", [_count(one) for one in rows["timeouts"]], 3)
        for name, who, rows in (
            ("timeouts", "simulated", ours),
            ("real.timeouts", "real", theirs),
        )
    ]
    told = [
        Column(_GOODPUT, f"simulated\n{unit}", [write(value) for value in ours[_GOODPUT]], 0),
        Column("real.goodput_bps", f"real\n{unit}", [write(one) for one in theirs[_GOODPUT]], 1),
        Column("real.goodput_bps_ci95", f"95 % CI\n{unit}", interval, 4),
        *timeouts,
    ]
    if theory is not None:
        told[2:2] = _models(ours, theory, unit)
    return columns.keys(ours, simulated.plan.swept), told


def _count(value: float | None) -> str:
    return units.NONE if value is None else units.number(value, 2)


def _models(ours: pl.DataFrame, theory: "Theory", unit: str) -> list[Column]:
    """Return a column for each model that predicts the goodput."""
    if _GOODPUT not in theory.frame.columns:
        return []
    known = theory.frame.filter(pl.col(_GOODPUT).is_not_null())
    told = []
    for (name,), rows in known.group_by("model", maintain_order=True):
        _, write = units.rates(rows[_GOODPUT])
        values = [write(value) for value in _at(ours, rows)[_GOODPUT]]
        told.append(Column(f"{name}.{_GOODPUT}", f"{name}\n{unit}", values, 2))
    return told


def _at(ours: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return `rows` in the order of the points of `ours`; a point that has no row gets nulls."""
    points = ours.select("point")
    rows = rows.with_columns(pl.col("point").cast(points["point"].dtype))
    return points.join(rows, on="point", how="left", maintain_order="left")
