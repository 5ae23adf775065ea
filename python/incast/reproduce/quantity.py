"""The numbers in claims: values of curves and traces, formulas, and values of models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import isnan, log
from statistics import pstdev
from typing import Any, Literal

import polars as pl

from incast import units
from incast.errors import FigureError
from incast.reproduce.arithmetic import evaluate
from incast.reproduce.data import Curves, Unjudged, X, check_stat
from incast.reproduce.metrics import Named
from incast.reproduce.strict import take

_ENDLESS = float("inf")


@dataclass(frozen=True)
class Quantity:
    """One number. The given keys determine how the number is computed.

    Parameters
    ----------
    series, at
        The value of a curve at a point.
    series, reduce, start, end
        One number for a curve between two points (`from`, `to`). `min`, `max`, `mean`, `first` and
        `last` are values of the curve. `argmax` and `argmin` are the points at which the curve has
        its largest and its smallest value. `knee` is the last point before the curve falls below
        `level` times its maximum so far; it is infinite if the curve never falls so far.
        `last-high` is the last point with at least `level` times the maximum; it is infinite if
        this is the last point of the range. `deviation` is the population standard deviation of the
        values.
    series, beside, reduce, start, end
        A comparison of two curves over their common points. `log-error` is the mean of
        |ln(series / beside)|. `rank-correlation` is Spearman's rank correlation, which is 1 if the
        curves rise and fall together.
    series, column, reduce, start, end, over
        One number for a column of the figure's trace, over all rows and runs between two times in
        seconds: `min`, `max`, `mean`, `first`, `last`, `count`, `median`, `mode` (the most frequent
        value) or `span` (the largest minus the smallest value). If `over` is given, only values
        above `over` count.
    metric, stat
        The metric, and the statistic over seeds, if they differ from the figure's.
    formula
        An arithmetic formula, e.g. `20e-6 / 0.001`.
    function, arguments
        A function of `incast.models`, e.g. `serialisation.Path`, and its keyword arguments
        (`with`). An argument may itself be a table with `function` and `with`. `part` names a
        field of the result.
    times
        Factor by which the number is multiplied.
    """

    series: str = ""
    at: Any = None
    reduce: Literal[
        "",
        "min",
        "max",
        "mean",
        "first",
        "last",
        "argmax",
        "argmin",
        "knee",
        "last-high",
        "deviation",
        "count",
        "median",
        "mode",
        "span",
        "log-error",
        "rank-correlation",
    ] = ""
    start: float | None = field(default=None, metadata={"key": "from"})
    end: float | None = field(default=None, metadata={"key": "to"})
    level: float = 0.5
    beside: str = ""
    column: str = ""
    over: float | None = None
    metric: Named | None = None
    stat: str = ""
    formula: str = ""
    function: str = ""
    arguments: dict[str, Any] = field(default_factory=dict, metadata={"key": "with"})
    part: str = ""
    times: float = 1.0

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Quantity":
        """Take a number or a table."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return cls(formula=repr(value))
        quantity = take(cls, value, where)
        if quantity.stat:
            check_stat(quantity.stat, where)
        ways = [quantity.series, quantity.formula, quantity.function]
        if sum(map(bool, ways)) != 1:
            raise FigureError(f"{where}: must have exactly one of series, formula and function")
        if bool(quantity.beside) != (quantity.reduce in _OF_TWO):
            raise FigureError(f"{where}: beside must be given with reduce = {' or '.join(_OF_TWO)}")
        if quantity.series and (quantity.at is None) == (not quantity.reduce):
            raise FigureError(f"{where}: a series must have exactly one of at and reduce")
        if quantity.over is not None and not quantity.column:
            raise FigureError(f"{where}: over may be given only together with column")
        if quantity.formula:
            evaluate(quantity.formula, {}, where)
        return quantity

    def labels(self) -> set[str]:
        """Return the labels of the curves from which the number comes."""
        return {label for label in (self.series, self.beside) if label}

    def of(self, curves: Curves) -> float:
        """Compute the number.

        Raises
        ------
        Unjudged
            The curve or the point was not run.
        FigureError
            The formula or the function is invalid.
        """
        return self.times * self._plain(curves)

    def text(self, curves: Curves) -> str:
        """Write the number and its source."""
        number = show(self.of(curves))
        if self.series:
            metric = self.metric.metric if self.metric else curves.metric
            name = self.column or (metric.name if metric else "")
            place = f"at {self.at}" if self.at is not None else f"({self.reduce})"
            of = f"{self.series} beside {self.beside}" if self.beside else self.series
            told = f"{name} of {of} {place} = {show(self._plain(curves))}"
            return told if self.times == 1 else f"{told}, times {show(self.times)} = {number}"
        return number if self.formula.replace(".", "").isdigit() else f"{number} ({self._source()})"

    def _of_two(self, curves: Curves) -> float:
        labels = (self.series, self.beside)
        common, (one, other) = curves.together(labels, self.metric, self.start, self.end)
        return _OF_TWO[self.reduce]([one[x] for x in common], [other[x] for x in common])

    def _source(self) -> str:
        return self.formula or self.function

    def _plain(self, curves: Curves) -> float:
        if self.formula:
            return evaluate(self.formula, {}, "formula")
        if self.function:
            return _call(self.function, self.arguments, self.part)
        if self.column:
            trace = pl.concat(curves.traced(self.series))
            if self.start is not None or self.end is not None:
                time = pl.col("time_s")
                low, high = self.start or 0.0, _ENDLESS if self.end is None else self.end
                trace = trace.filter(time.is_between(low, high))
            if self.over is not None:
                trace = trace.filter(pl.col(self.column) > self.over)
            return _of_trace(trace[self.column], self.reduce)
        if self.beside:
            return self._of_two(curves)
        if self.at is not None:
            return curves.at(self.series, self.at, self.metric, self.stat)
        values = curves.values(self.series, self.metric, self.start, self.end, self.stat)
        if not values:
            raise Unjudged(f"{self.series} has no value in this range")
        return _of_curve(values, self.reduce, self.level)


def show(value: float) -> str:
    """Write a number with three digits, but a whole number with all digits."""
    if value in {_ENDLESS, -_ENDLESS}:
        return "beyond the last point"
    if value == int(value) and abs(value) < 1e6:  # noqa: PLR2004 (short enough)
        return str(int(value))
    return units.number(value) if 1e-3 <= abs(value) < 1e6 else f"{value:.3g}"  # noqa: PLR2004


def _of_curve(values: Mapping[X, float], how: str, level: float) -> float:
    numbers = list(values.values())
    if how == "knee":
        return _knee(values, level)
    if how == "last-high":
        return _last_high(values, level)
    if how in {"argmax", "argmin"}:
        best = (max if how == "argmax" else min)(values, key=lambda x: values[x])
        return _number(best)
    plain = {
        "min": min(numbers),
        "max": max(numbers),
        "mean": sum(numbers) / len(numbers),
        "first": numbers[0],
        "last": numbers[-1],
        "deviation": pstdev(numbers),
    }
    if how not in plain:
        raise FigureError(f"reduce = {how} must be given with column")
    return plain[how]


def _knee(values: Mapping[X, float], level: float) -> float:
    highest, before = -_ENDLESS, None
    for x, value in values.items():
        highest = max(highest, value)
        if value < level * highest and before is not None:
            return _number(before)
        before = x
    return _ENDLESS


def _last_high(values: Mapping[X, float], level: float) -> float:
    highest = max(values.values())
    *_, last = (x for x, value in values.items() if value >= level * highest)
    return _ENDLESS if last == [*values][-1] else _number(last)


def _number(x: X) -> float:
    if isinstance(x, str):
        raise FigureError(f"{x}: the points must be numbers, not strings")
    return float(x)


def _log_error(one: Sequence[float], other: Sequence[float]) -> float:
    ratios = [abs(log(a / b)) for a, b in zip(one, other, strict=True) if a > 0 and b > 0]
    if not ratios:
        raise Unjudged("the curves have no common point with positive values")
    return sum(ratios) / len(ratios)


def _rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    table = pl.DataFrame({"a": one, "b": other})
    found = table.select(pl.corr("a", "b", method="spearman")).item()
    if found is None or isnan(found):
        raise Unjudged("the curves have too few common points for a rank correlation")
    return float(found)


_OF_TWO: Mapping[str, Callable[[Sequence[float], Sequence[float]], float]] = {
    "log-error": _log_error,
    "rank-correlation": _rank_correlation,
}


def _of_trace(values: pl.Series, how: str) -> float:
    if how == "count":
        return float(len(values))
    if values.is_empty():
        raise Unjudged("the trace has no such rows")
    numbers = values.cast(pl.Float64)
    if how not in _TRACE:
        raise FigureError(f"reduce = {how} must be given without column")
    return float(numbers.to_frame("y").select(_TRACE[how]).item())


_Y = pl.col("y")
_TRACE = {
    "min": _Y.min(),
    "max": _Y.max(),
    "mean": _Y.mean(),
    "median": _Y.median(),
    "mode": _Y.mode().min(),
    "span": _Y.max() - _Y.min(),
    "first": _Y.first(),
    "last": _Y.last(),
}


def _call(name: str, arguments: Mapping[str, Any], part: str) -> float:
    try:
        value = _object(name, arguments)
        return float(getattr(value, part) if part else value)
    except (TypeError, ValueError, AttributeError) as error:
        raise FigureError(f"function: {name}: {error}") from None


def _object(name: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 (whatever it returns)
    """Call a function of the models; an argument may be a table with `function` and `with`."""
    module, _, function = name.rpartition(".")
    try:
        call = getattr(import_module(f"incast.models.{module}"), function)
    except (ImportError, AttributeError):
        raise FigureError(f"function: there is no {name} in incast.models") from None
    given = {
        key: _object(value["function"], value.get("with", {}))
        if isinstance(value, Mapping) and "function" in value
        else value
        for key, value in arguments.items()
    }
    return call(**given)
