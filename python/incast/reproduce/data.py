"""The curves of a figure: from runs, theory, or another simulator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any

import polars as pl

from incast.errors import FigureError
from incast.reproduce import metrics
from incast.reproduce.gaps import filled
from incast.reproduce.metrics import Metric, Named
from incast.results.intervals import Samples, interval

X = int | float | str


class Unjudged(Exception):  # noqa: N818 (not an error: the claim cannot be judged)
    """A claim needs a run that does not exist; the message names this run."""


class NoSuchRun(Unjudged):
    """No seed tried yields the run that a claim needs; the message gives the number of seeds."""


@dataclass(frozen=True)
class Curve:
    """One curve: rows of runs, by point and seed.

    Parameters
    ----------
    label
        Name of the curve.
    xs
        Points of the curve, in order.
    rows
        Columns: `x` (the index of the point), `seed`, `status`, and columns for metrics.
    traces
        Function that takes the name of a trace and returns one frame per run; None without traces.
    theory
        Whether the curve comes from a model.
    """

    label: str
    xs: list[X]
    rows: pl.DataFrame
    traces: Callable[[str], list[pl.DataFrame]] | None = None
    theory: bool = False


@dataclass(frozen=True)
class Curves:
    """All curves of a figure.

    Parameters
    ----------
    of
        The curves, by label.
    metric
        The metric that is drawn and, by default, compared.
    stat
        The statistic over seeds: `mean`, `median`, `min`, `max`, or a percentile such as `p95`.
    trace, only
        The trace of the figure, and conditions for its rows: a value for each column.
    between
        Whether values between two points are interpolated. This is for another simulator's data,
        because we cannot choose its points.
    sought
        Number of seeds that were tried to find the run of a timeline; 0 without a search.
    """

    of: Mapping[str, Curve]
    metric: Metric | None
    stat: str = "mean"
    trace: str = ""
    only: Mapping[str, Any] = field(default_factory=dict)
    between: bool = False
    sought: int = 0

    @property
    def unfinished(self) -> int:
        """Number of runs without the status `ok`. Values of curves do not include these runs."""
        return sum(curve.rows.filter(pl.col("status") != "ok").height for curve in self.of.values())

    def has(self, label: str) -> bool:
        """Return whether the curve exists and has the drawn metric."""
        if label not in self.of or self.metric is None:
            return False
        try:
            metrics.of(self.of[label].rows, self.metric, label)
        except FigureError:
            return False
        return True

    def at(self, label: str, x: X, metric: Named | None = None, stat: str = "") -> float:
        """Return the value of a curve at a point.

        Raises
        ------
        Unjudged
            The curve has no such point.
        """
        values = self.values(label, metric, stat=stat)
        if x in values:
            return values[x]
        if self.between and isinstance(x, int | float):
            points = [(float(one), y) for one, y in values.items() if not isinstance(one, str)]
            for (left, low), (right, high) in pairwise(points):
                if left < x < right:
                    return low + (high - low) * (x - left) / (right - left)
        if x in self._curve(label).xs:
            raise Unjudged(f"no run of {label} at {x} has ended with a value")
        raise Unjudged(f"{label} has no value at {x}")

    def values(
        self,
        label: str,
        metric: Named | None = None,
        start: float | None = None,
        end: float | None = None,
        stat: str = "",
    ) -> dict[X, float]:
        """Return a curve's values between two points, by point, from runs with the status `ok`.

        Raises
        ------
        Unjudged
            The curve was not run.
        FigureError
            No metric is given, or the rows lack the metric.
        """
        curve = self._curve(label)
        wanted = metric.metric if metric is not None else self.metric
        if wanted is None:
            raise FigureError(f"{label}: no metric is given")
        table = self._table(curve, wanted).group_by("x").agg(_over(stat or self.stat).alias("y"))
        found = dict(zip(table["x"].to_list(), table["y"].to_list(), strict=True))
        return {
            x: found[i]
            for i, x in enumerate(curve.xs)
            if found.get(i) is not None and _within(x, start, end)
        }

    def together(
        self, labels: Sequence[str], metric: Named | None, start: float | None, end: float | None
    ) -> tuple[list[X], list[dict[X, float]]]:
        """Return the points that several curves share, and the `values` of each curve.

        Raises
        ------
        Unjudged
            A curve was not run, or the curves share no point.
        """
        values = [self.values(label, metric, start, end) for label in labels]
        common = [x for x in values[0] if all(x in one for one in values)]
        if not common:
            raise Unjudged("the curves have no common point in this range")
        return common, values

    def band(self, label: str) -> dict[X, tuple[float, float]]:
        """Return the ends of the 95 % confidence interval of the mean, by point.

        With a single run, both ends are the value of this run.
        """
        curve = self._curve(label)
        if self.metric is None or self.stat != "mean":
            return {}
        table = (
            self._table(curve, self.metric).group_by("x").agg("y", pl.col("y").mean().alias("mean"))
        )
        ends = {}
        for x, values, mean in table.select("x", "y", "mean").iter_rows():
            low, high = interval(Samples.of(values), 0.0, inf)
            ends[curve.xs[x]] = (float(low), float(high)) if len(values) > 1 else (mean, mean)
        return ends

    def traced(self, label: str) -> list[pl.DataFrame]:
        """Return the trace's rows that meet `only`: a frame per run, with all bins filled.

        Raises
        ------
        Unjudged
            Nothing was traced.
        """
        curve = self._curve(label)
        if curve.traces is None or not self.trace:
            raise Unjudged(f"{label} has no traces")
        conditions = [
            pl.col(key).is_in(value) if isinstance(value, list) else pl.col(key) == value
            for key, value in self.only.items()
        ]
        return [filled(frame.filter(*conditions)) for frame in curve.traces(self.trace)]

    def _curve(self, label: str) -> Curve:
        if label not in self.of and self.sought:
            raise NoSuchRun(
                f"none of {self.sought} seeds has a run that meets the conditions of the search"
            )
        if label not in self.of:
            raise Unjudged(f"{label} was not run")
        return self.of[label]

    @staticmethod
    def _table(curve: Curve, metric: Metric) -> pl.DataFrame:
        whole = curve.rows.filter(pl.col("status") == "ok")
        y = metrics.of(whole, metric, curve.label)
        return whole.select("x", y.cast(pl.Float64).alias("y")).drop_nulls()


def check_stat(stat: str, where: str) -> None:
    """Refuse an unknown statistic.

    Raises
    ------
    FigureError
        The statistic is unknown.
    """
    if stat not in _STATS and not (stat[:1] == "p" and stat[1:].isdigit() and len(stat) <= 3):  # noqa: PLR2004
        choice = f"choose from {', '.join(_STATS)}, p95"
        raise FigureError(f"{where}: there is no statistic {stat!r}; {choice}")


_STATS: Mapping[str, pl.Expr] = {
    "mean": pl.col("y").mean(),
    "median": pl.col("y").median(),
    "min": pl.col("y").min(),
    "max": pl.col("y").max(),
}


def _over(stat: str) -> pl.Expr:
    if stat in _STATS:
        return _STATS[stat]
    return pl.col("y").quantile(int(stat[1:]) / 100, interpolation="linear")


def _within(x: X, start: float | None, end: float | None) -> bool:
    if start is None and end is None:
        return True
    if isinstance(x, str):
        raise FigureError(f"the points are strings ({x}), but from and to need numbers")
    return (start is None or x >= start) and (end is None or x <= end)
