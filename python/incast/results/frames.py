"""Data frames from what the core returns: swept keys and seed first, one type per column."""

from typing import Any

import numpy as np
import polars as pl
from polars import selectors

from incast.scenario.plan import Job


def rows(job: Job, output: dict[str, Any]) -> pl.DataFrame:
    """Return the result rows of one run, one per group."""
    records = [{**job.point.swept, "seed": job.seed, **row} for row in output["rows"]]
    return _stable(pl.DataFrame(records, infer_schema_length=None))


def trace(job: Job, columns: dict[str, Any]) -> pl.DataFrame:
    """Return one trace of one run."""
    frame = pl.DataFrame(
        {
            name: np.asarray(column) if not isinstance(column, list) else column
            for name, column in columns.items()
        }
    )
    own = {**job.point.swept, "seed": job.seed}
    return _stable(
        frame.select(*(pl.lit(value).alias(key) for key, value in own.items()), pl.all())
    )


def _stable(frame: pl.DataFrame) -> pl.DataFrame:
    """Give every part file the same types: NaN and nothing are one and the same absence."""
    return frame.with_columns(pl.col(pl.Null).cast(pl.Float64)).with_columns(
        pl.col(pl.Float64).fill_nan(None), selectors.integer().cast(pl.Int64)
    )
