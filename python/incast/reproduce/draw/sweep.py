"""A metric against a swept key. Runs have markers, and another simulator's points are hollow."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from incast.plots import Picture, style
from incast.reproduce.data import Curves, X
from incast.reproduce.draw import axes as shared
from incast.reproduce.draw import orders
from incast.reproduce.runs import Work
from incast.results.intervals import HIGH, LOW


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture:
    """Draw every curve with its confidence band."""
    figure, axes, strip = orders.sheet(work, curves)
    where = shared.positions(axes, work)
    handles, data = [], []
    for index, (label, curve) in enumerate(curves.of.items()):
        values, band = curves.values(label), curves.band(label)
        x = [where[one] for one in values]
        y = list(values.values())
        ends = [band.get(one, (value, value)) for one, value in values.items()]
        looks = style.curve(index)
        if curve.theory:
            looks["marker"] = ""
        handles += axes.plot(x, y, label=label, **looks)
        low, high = zip(*ends, strict=True) if ends else ((), ())
        if low != high:
            axes.fill_between(x, low, high, color=looks["color"], alpha=0.2, lw=0)
        data += [("here", label, one, value, band.get(one)) for one, value in values.items()]
        if other is not None and other.has(label):
            there = other.values(label)
            there = {one: value for one, value in there.items() if one in where}
            hollow = {**looks, "linestyle": "", "markerfacecolor": "none", "markersize": 7}
            hollow["markeredgecolor"] = looks["color"]
            axes.plot([where[one] for one in there], list(there.values()), **hollow)
            data += [("ns-2", label, one, value, None) for one, value in there.items()]
    if other is not None and any(map(other.has, curves.of)):
        look: dict[str, Any] = {
            "marker": "o",
            "linestyle": "",
            "markerfacecolor": "none",
            "color": "0.3",
        }
        handles += axes.plot([], [], label="hollow: measured with ns-2", markersize=7, **look)
    plot = work.figure.plot
    if plot is not None and curves.metric is not None:
        shared.scales(axes, plot, curves.metric.label)
    handles += orders.draw(strip, work, curves, where)
    style.legend(figure, handles)
    return Picture(figure, table(data))


def table(
    data: Sequence[tuple[str, str, X, float, tuple[float, float] | None]],
) -> pl.DataFrame:
    """Return the numbers of a picture: source, curve, position, value, uncertainty."""
    rows = [
        {"source": source, "series": series, "x": str(x), "y": y}
        | dict(zip((f"y{LOW}", f"y{HIGH}"), ends or (None, None), strict=True))
        for source, series, x, y, ends in data
    ]
    types = {"y": pl.Float64, f"y{LOW}": pl.Float64, f"y{HIGH}": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=types, infer_schema_length=None)
