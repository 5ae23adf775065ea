"""Means over seeds with 95 % confidence intervals."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl

from incast.results.collapse import COLLAPSED
from incast.results.intervals import CONFIDENCE, HIGH, LOW, Samples, interval
from incast.scenario.resolved import Resolved

_NOT_QUANTITIES = {"point", "seed"}
_LARGEST = {"stall_max_s"}  # a point gets the largest value of its runs, without an interval
_SHARES = {"fairness", "drop_ratio", "link_utilization", COLLAPSED}
_GOODPUT, _COMPLETION = "goodput_bps", "completion_"
_OF_SAMPLES = {
    "count": pl.Expr.count,
    "deviation": pl.Expr.std,
    "least": pl.Expr.min,
    "most": pl.Expr.max,
}


def half_width(deviation: float, count: int) -> float:
    """Return half the width of Student's confidence interval of a mean.

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

    return float(stdtrit(count - 1, 0.975) * deviation / count**0.5)


def summarise(
    frame: pl.DataFrame,
    swept: list[str],
    resolved: Callable[[int], Resolved] | None = None,
    confidence: float = CONFIDENCE,
) -> pl.DataFrame:
    """Return one row per point: for each quantity `x` its mean `x`, `x_ci95_low`, `x_ci95_high`.

    `point` is the index of the point in the plan. Only runs with the status "ok" enter a mean.
    `runs` counts all runs of the point, and `ok` counts the runs with the status "ok". `status` is
    "ok", or the counts of the other statuses. `timeouts_per_block` is added to the quantities.

    Parameters
    ----------
    frame
        Result rows of one group, with the index of their `point` in the plan.
    swept
        The swept keys, constant at each point.
    resolved
        A function that returns the quantities of a point, by its index. These quantities limit
        the goodput and the time of a block. By default, the limits are unknown.
    confidence
        The confidence of a single interval: more than 95 % if the number of runs depends on the
        intervals.
    """
    if COLLAPSED in frame.columns:  # the mean of a flag is a share
        frame = frame.with_columns(pl.col(COLLAPSED).cast(pl.Float64))
    # Long flows have no blocks, so they have no timeouts per block.
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
        *(_of_runs(name, pl.col(name).filter(whole).cast(pl.Float64)) for name in quantities),
        *(
            of(pl.col(name).filter(whole).cast(pl.Float64)).name.suffix(f" {what}")
            for name in quantities
            for what, of in _OF_SAMPLES.items()
        ),
    )
    status = pl.Series("status", [_status(ends) for ends in points["status"]], pl.String)
    columns = [points[key] for key in ("point", *swept, "runs", "ok")] + [status]
    here = [resolved(int(point)) for point in points["point"]] if resolved is not None else []
    for name in quantities:
        columns += [points[name], *_interval(points, name, here, confidence)]
    return pl.DataFrame(columns)


def _of_runs(name: str, values: pl.Expr) -> pl.Expr:
    return values.max() if name in _LARGEST else values.mean()


def possible(name: str, here: Resolved) -> tuple[float, float]:
    """Return the possible range of a quantity of the workload at a point."""
    if name == _GOODPUT:
        return 0.0, here.clients * here.line_rate
    if name.startswith(_COMPLETION) and here.reads:
        return here.ideal / here.clients, np.inf
    return 0.0, 1.0 if name in _SHARES else np.inf


def _interval(
    points: pl.DataFrame, name: str, here: list[Resolved], confidence: float
) -> list[pl.Series]:
    """Return both ends of the interval of a mean; null for fewer than two runs."""
    names = (f"{name}{LOW}", f"{name}{HIGH}")
    if name in _LARGEST:
        return [
            pl.repeat(None, points.height, dtype=pl.Float64, eager=True).alias(end) for end in names
        ]
    told = {what: points[f"{name} {what}"].cast(pl.Float64).to_numpy() for what in _OF_SAMPLES}
    samples = Samples(mean=points[name].to_numpy(), **told)
    if here:
        lowest, highest = np.array([possible(name, one) for one in here]).T
    else:
        lowest, highest = 0.0, 1.0 if name in _SHARES else np.inf
    ends = interval(samples, lowest, highest, flags=name == COLLAPSED, confidence=confidence)
    return [pl.Series(*one, nan_to_null=True) for one in zip(names, ends, strict=True)]


def _status(each: pl.Series) -> str:
    ends = Counter(each.to_list())
    if set(ends) == {"ok"}:
        return "ok"
    return ", ".join(f"{count} of {len(each)} {end}" for end, count in sorted(ends.items()))
