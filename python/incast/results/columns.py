"""The table of a summary: its columns, their headings, and their importance."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import polars as pl

from incast import units
from incast.errors import ColumnError
from incast.grid import Column
from incast.results.added import DESCRIPTIONS
from incast.results.causes import CAUSES, OTHER_STALLS
from incast.results.intervals import HIGH, LOW
from incast.results.series import named
from incast.results.statistics import summarise

Cells = Callable[[Any], str]
_UNITS = ("_bps", "_s", "_packets", "_bytes")  # suffixes of the columns' names
_CI = "_ci95"  # suffix that stands for both ends of an interval
_SHORT = {
    "p50": "completion_p50_s",
    "p95": "completion_p95_s",
    "p99": "completion_p99_s",
    "p999": "completion_p999_s",
    "max": "completion_max_s",
}


def keys(summary: pl.DataFrame, swept: list[str]) -> list[Column]:
    """Return the columns that identify the points."""
    if not swept:
        return []
    rows = [named({key: row[key] for key in swept}) for row in summary.to_dicts()]
    return [Column(key, _key(key, swept), [row[key] for row in rows]) for key in rows[0]]


def usual(summary: pl.DataFrame) -> list[Column]:
    """Return the default columns of a table."""
    rate, rates = units.rates(summary["goodput_bps"])
    per_block = summary["timeouts_per_block"].is_not_null().any()
    causes = [name for name in CAUSES if (summary[name].sum() or 0) > 0]
    by_share = sorted(causes, key=lambda name: -summary[name].sum())
    columns = [_of(summary, "goodput_bps", f"goodput\n{rate}", rates, 0)]
    if summary["runs"].max() != 1:
        columns.append(_interval(summary, "goodput_bps", f"95 % CI\n{rate}", rates, 2))
    columns += [
        _of(summary, "completion_p50_s", "block p50", _time, 6),
        _of(summary, "completion_p99_s", "block p99", _time, 1),
        _of(summary, "timeouts_per_block", "timeouts\nper block", _count, 3)
        if per_block
        else _of(summary, "timeouts", "timeouts", _count, 3),
    ]
    if any((summary[name].sum() or 0) > 0 for name in OTHER_STALLS if name in summary.columns):
        columns.append(_of(summary, "stalls", "stalls\nper run", _count, 5))
    columns += [_cause(summary, name, 7 + by_share.index(name)) for name in causes]
    columns += [
        _of(summary, "queue_max_packets", "queue max\npackets", _whole, 20),
        _of(summary, "fairness", "fair-\nness", _index, 21),
        _of(summary, "link_utilization", "link\nbusy", _share, 4),
    ]
    if summary["status"].ne("ok").any():
        ends = ["" if end == "ok" else end for end in summary["status"]]
        columns.append(Column("status", "not finished", ends, 3))
    return columns


def asked(summary: pl.DataFrame, names: Sequence[str]) -> list[Column]:
    """Return the requested columns by their full names; the first column is the most important."""
    usually = {column.name: column for column in usual(summary)}
    return [
        replace(usually.get(name) or _any(summary, name), rank=rank)
        for rank, name in enumerate(names)
    ]


def known() -> list[str]:
    """Return the names of all possible columns of a summary, without the swept keys."""
    import json

    from incast import _core

    told = {column["name"] for column in json.loads(_core.columns("rows"))}
    told |= {name for name, *_ in DESCRIPTIONS}
    schema = dict.fromkeys(sorted(told - {"group", "status"}), pl.Float64)
    empty = pl.DataFrame(schema={"point": pl.Int32, **schema, "status": pl.String})
    names = [name for name in summarise(empty, []).columns if name != "point"]
    return [*names, *(name.removesuffix("_low") for name in names if name.endswith(LOW))]


def resolve(name: str, there: Iterable[str]) -> str:
    """Return the column for a full name, a name without its unit, or a short name such as p99.

    Raises
    ------
    ColumnError
        No column has the name, or several columns have it. The message suggests other names.
    """
    there = list(there)
    name = _SHORT.get(name, name)
    if name in there:
        return name
    meant = [f"{name}{unit}" for unit in _UNITS if f"{name}{unit}" in there]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise ColumnError(f"{name!r} is ambiguous: {' or '.join(meant)}")
    near = get_close_matches(name, [*there, *_SHORT], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "; incast explain columns lists them"
    raise ColumnError(f"there is no column {name!r}{hint}")


def _of(summary: pl.DataFrame, name: str, heading: str, write: Cells, rank: int) -> Column:
    return Column(name, heading, [write(value) for value in summary[name]], rank)


def _interval(summary: pl.DataFrame, name: str, heading: str, write: Cells, rank: int) -> Column:
    """Write both ends of an interval."""
    ends = zip(summary[f"{name}{LOW}"], summary[f"{name}{HIGH}"], strict=True)
    cells = [units.NONE if low is None else f"{write(low)}–{write(high)}" for low, high in ends]
    return Column(f"{name}{_CI}", heading, cells, rank)


def _any(summary: pl.DataFrame, name: str) -> Column:
    """Write a column with the unit at the end of its name."""
    if name.endswith(_CI) and name.removesuffix(_CI) in summary.columns:
        of = name.removesuffix(_CI)
        unit, rates = units.rates(summary[of]) if of.endswith("_bps") else ("", _number)
        heading = f"{of.replace('_', ' ')}\n95 % CI {unit}".strip()
        return _interval(summary, of, heading, _time if of.endswith("_s") else rates, 0)
    plain = next((name.removesuffix(unit) for unit in _UNITS if name.endswith(unit)), name)
    words = plain.replace("_", " ")
    if name not in summary.columns:  # a column of a remedy that no point uses
        return Column(name, words, [units.NONE] * summary.height)
    if not summary.schema[name].is_numeric():
        return Column(name, words, [str(value) for value in summary[name]])
    if name.endswith("_bps"):
        unit, write = units.rates(summary[name])
        return _of(summary, name, f"{words}\n{unit}", write, 0)
    if name.endswith("_s"):
        return _of(summary, name, words, _time, 0)
    unit = name.removeprefix(plain).strip("_")
    heading = f"{words}\n{unit}" if unit else words
    return _of(summary, name, heading, _number, 0)


def _cause(summary: pl.DataFrame, name: str, rank: int) -> Column:
    """Write a cause as its share of the timeouts."""
    shares = [
        _share(part / whole) if part is not None and whole else units.NONE
        for part, whole in zip(summary[name], summary["timeouts"], strict=True)
    ]
    return Column(name, CAUSES[name].replace(" ", "\n", 1), shares, rank)


def _key(key: str, swept: list[str]) -> str:
    """Shorten a dotted key to its last word, if that remains unambiguous."""
    short = key.rpartition(".")[2]
    if short == "name" or [other.rpartition(".")[2] for other in swept].count(short) > 1:
        return key.replace(".", "\n", 1)
    return short


def _time(value: float | None) -> str:
    return units.NONE if value is None else units.time(value, trim=False)


def _count(value: float | None) -> str:
    return units.NONE if value is None else units.number(value, 2)


def _whole(value: float | None) -> str:
    return units.NONE if value is None else f"{value:.0f}"


def _index(value: float | None) -> str:
    return units.NONE if value is None else f"{value:.2f}"


def _number(value: float | None) -> str:
    if value is None:
        return units.NONE
    return f"{value:.0f}" if float(value).is_integer() else units.number(value, 3)


def _share(value: float | None) -> str:
    return units.NONE if value is None else units.percent(value)
