"""Means over seeds with 95 % confidence intervals."""

from collections import Counter

import polars as pl

from incast.results.collapse import COLLAPSED

CONFIDENCE = 0.95
_NOT_QUANTITIES = {"point", "seed"}
_DEVIATION, _COUNT = " deviation", " count"


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
    return float(half_widths(pl.Series([deviation]), pl.Series([count]))[0])


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
    if COLLAPSED in frame.columns:  # the mean of a flag is a share
        frame = frame.with_columns(pl.col(COLLAPSED).cast(pl.Float64))
    # Long flows have no blocks, and no run without one is about blocks.
    per_block = pl.when(pl.col("blocks") > 0).then(pl.col("timeouts") / pl.col("blocks"))
    frame = frame.with_columns(per_block.alias("timeouts_per_block"))
    quantities = [
        name
        for name, kind in frame.schema.items()
        if kind.is_numeric() and name not in _NOT_QUANTITIES and name not in swept
    ]
    whole = pl.col("status") == "ok"
    points = frame.group_by("point", maintain_order=True).agg(
        *(pl.col(key).first() for key in swept),
        pl.len().cast(pl.Int64).alias("runs"),
        whole.sum().cast(pl.Int64).alias("ok"),
        pl.col("status"),
        *(pl.col(name).filter(whole).cast(pl.Float64).mean() for name in quantities),
        *(pl.col(name).filter(whole).std().name.suffix(_DEVIATION) for name in quantities),
        *(pl.col(name).filter(whole).count().name.suffix(_COUNT) for name in quantities),
    )
    status = pl.Series("status", [_status(ends) for ends in points["status"]], pl.String)
    columns = [points[key] for key in ("point", *swept, "runs", "ok")] + [status]
    for name in quantities:
        halves = half_widths(points[f"{name}{_DEVIATION}"], points[f"{name}{_COUNT}"])
        columns += [points[name], halves.alias(f"{name}_ci95")]
    return pl.DataFrame(columns)


def half_widths(deviations: pl.Series, counts: pl.Series) -> pl.Series:
    """Return `half_width` of every deviation and count, nothing where the count is below 2."""
    from scipy.special import stdtrit

    freedom = counts.cast(pl.Float64) - 1
    quantiles = pl.Series(stdtrit(freedom.clip(lower_bound=1.0).to_numpy(), (1 + CONFIDENCE) / 2))
    halves = quantiles * deviations.cast(pl.Float64) / counts.cast(pl.Float64).sqrt()
    return halves.to_frame("half").select(pl.when(freedom > 0).then("half")).to_series()


def _status(each: pl.Series) -> str:
    ends = Counter(each.to_list())
    if set(ends) == {"ok"}:
        return "ok"
    return ", ".join(f"{count} of {len(each)} {end}" for end, count in sorted(ends.items()))
