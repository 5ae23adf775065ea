"""Data frames from the core's tables: swept keys and seed first, one type per column."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import polars as pl
from polars import selectors

from incast.results.traces import KINDS
from incast.scenario.plan import Job

KEY = "run"  # the column that holds the key of the run
ROWS = "runs"
COMPLETIONS = "completions_s"  # the column with a list of all blocks of the run
WALL = "wall_s"  # the time that a run took; only it differs if a seed is run twice


@dataclass(frozen=True)
class Run:
    """A finished run.

    Parameters
    ----------
    job
        The scenario and the seed of the run.
    output
        The core's tables: `rows`, and the recorded traces.
    """

    job: Job
    output: dict[str, Any]


def traces(run: Run) -> dict[str, pl.DataFrame]:
    """Return the traces that were recorded in a run, by the names of their tables."""
    return {
        kind.table: trace(run.job, run.output[kind.table])
        for kind in KINDS.values()
        if kind.table in run.output
    }


def rows(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the rows of runs, one row per group, without values that depend on the machine."""
    shapes: dict[tuple[Any, ...], list[Run]] = {}  # runs with the same swept keys and types
    for run in runs:
        swept = run.job.point.swept
        shapes.setdefault(tuple((name, type(value)) for name, value in swept.items()), []).append(
            run
        )
    frames = [_rows(of_one) for of_one in shapes.values()]
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")


def _rows(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the rows of runs with the same swept keys."""
    records = [
        {KEY: run.job.key, **run.job.point.swept, "seed": run.job.seed, **row}
        for run in runs
        for row in run.output["rows"]
    ]
    blocks = pl.Series(
        COMPLETIONS, [record.get(COMPLETIONS) for record in records], pl.List(pl.Float64)
    )
    names = [name for name in _names(records) if name not in {WALL, COMPLETIONS}]
    columns = {name: [_absent(record.get(name)) for record in records] for name in names}
    schema = {name: _type(values) for name, values in columns.items()}
    return pl.DataFrame(columns, schema=schema).with_columns(blocks)


def seconds(run: Run) -> float:
    """Return the real time that a run took, which is the same for all groups of the run."""
    return float(run.output["rows"][0][WALL])


def trace(job: Job, columns: dict[str, Any]) -> pl.DataFrame:
    """Return one trace of one run."""
    frame = pl.DataFrame(
        {
            name: pl.Series(column[0], dtype=pl.String).gather(column[1])  # names and indices
            if isinstance(column, tuple)
            else np.asarray(column)
            for name, column in columns.items()
        }
    )
    own = {**job.point.swept, "seed": job.seed}
    return _stable(
        frame.select(*(pl.lit(value).alias(key) for key, value in own.items()), pl.all())
    )


def harmless(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table for CSV with `'` before text that a spreadsheet would read as a formula.

    A formula begins with `=`, `@`, a tab or a sign. A number with a sign is not a formula.
    """
    text = selectors.string()
    formula = text.str.contains(r"^(?:[=@\t\r]|[+-](?:[^0-9.]|$))")
    return frame.with_columns(pl.when(formula).then("'" + text).otherwise(text).name.keep())


def _names(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))


def _absent(value: Any) -> Any:  # noqa: ANN401 (a value of any type)
    """Replace NaN by null."""
    return None if isinstance(value, float) and isnan(value) else value


def _type(values: list[Any]) -> type[pl.DataType]:
    """Return the type of a column: the same in every part file, even if values are missing."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        return pl.Int64 if kinds == {int} else pl.Float64
    return pl.Boolean if kinds == {bool} else pl.String


def _stable(frame: pl.DataFrame) -> pl.DataFrame:
    """Give the columns the same types in all part files of a trace, as `rows` does for rows."""
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64)).with_columns(
        pl.col(pl.Float64).fill_nan(None), selectors.integer().cast(pl.Int64)
    )
