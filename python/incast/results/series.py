"""The swept key on the horizontal axis, and the curves that the other keys form."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

SERVERS = "workload.servers"
_TRANSPORT, _REMEDIES = "transport.name", "transport.remedies"
_NOTHING = "none"


@dataclass(frozen=True)
class Series:
    """A curve: the points that share all swept values except the value of the axis.

    Parameters
    ----------
    label
        The values that distinguish this curve; empty if there is only one curve.
    points
        Rows of the summary, in the order of the axis.
    """

    label: str
    points: pl.DataFrame


def axis_of(swept: pl.DataFrame) -> str | None:
    """Return the axis's key: the servers, else the first key with numbers, else the first key.

    Parameters
    ----------
    swept
        One row per point, one column per swept key.
    """
    varying = [name for name in swept.columns if swept[name].n_unique() > 1]
    numbers = [name for name in varying if swept[name].dtype.is_numeric()]
    if SERVERS in varying:
        return SERVERS
    return next(iter([*numbers, *varying]), None)


def split(summary: pl.DataFrame, swept: list[str]) -> tuple[str | None, list[Series]]:
    """Return the axis and the curves of a summary, in the order of the sweep."""
    axis = axis_of(summary.select(swept))
    others = [key for key in swept if key != axis and not _follows(summary, key, axis)]
    if not others:
        return axis, [Series("", _ordered(summary, axis))]
    return axis, [
        Series(_label(others, values), _ordered(points, axis))
        for values, points in summary.group_by(others, maintain_order=True)
    ]


def label_of(swept: dict[str, object]) -> str:
    """Write swept values as text, e.g. `newreno, rto_min = 200ms`."""
    return _label(list(swept), tuple(swept.values()))


def _follows(summary: pl.DataFrame, key: str, axis: str | None) -> bool:
    """Return whether `key` is constant, or determined by the axis (in a zipped sweep)."""
    if axis is None:
        return summary[key].n_unique() == 1
    return bool(summary.group_by(axis).agg(pl.col(key).n_unique())[key].max() == 1)


def _ordered(points: pl.DataFrame, axis: str | None) -> pl.DataFrame:
    return points.sort(axis) if axis and points[axis].dtype.is_numeric() else points


def named(swept: dict[str, object]) -> dict[str, str]:
    """Write swept values as text, by key; remedies are joined with a transport's name."""
    texts = {key: written(value) for key, value in swept.items()}
    if _TRANSPORT in texts and _REMEDIES in texts:
        beside = texts.pop(_REMEDIES)
        texts[_TRANSPORT] += "" if beside == _NOTHING else f" + {beside}"
    return texts


def _label(keys: list[str], values: tuple[object, ...]) -> str:
    return ", ".join(
        text if key.endswith(".name") else f"{key.rpartition('.')[2]} = {text}"
        for key, text in named(dict(zip(keys, values, strict=True))).items()
    )


def ordered(values: Iterable[Any]) -> bool:
    """Return whether values have an order, as numbers and quantities do, but names do not."""
    return all(str(value)[:1].isdigit() for value in values)


def written(value: object) -> str:
    """Write a value as text; for a table or list in JSON, write its names and parameters."""
    if isinstance(value, str) and value.startswith(("{", "[")):
        return _spelt(json.loads(value))
    return str(value)


def _spelt(value: object) -> str:
    if isinstance(value, dict):
        table = dict(value)
        name = table.pop("name", None)
        entries = [key if entry is True else f"{key} {entry}" for key, entry in table.items()]
        rest = ", ".join(entries)
        if name is None:
            return rest
        return f"{name} ({rest})" if rest else str(name)
    if isinstance(value, list):
        return " + ".join(map(_spelt, value)) or _NOTHING
    return str(value)
