"""Where curves are in the order of the text: a strip above the picture."""

from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet
from matplotlib.lines import Line2D

from incast.plots import style
from incast.reproduce.data import Curves, Unjudged, X
from incast.reproduce.draw import axes as shared
from incast.reproduce.figure import Figure, Order
from incast.reproduce.predicates.every import Every
from incast.reproduce.predicates.ordered import Ordered
from incast.reproduce.runs import Work

_ROW = 0.34  # inches
_EQUAL = 0.02  # curves that differ by less are in no order


class State(StrEnum):
    """Whether a point agrees with the order of the text."""

    SO = "as the text has it"
    EQUAL = "within 2 %"
    NOT = "not so"


_LOOKS: dict[State, dict[str, Any]] = {
    State.SO: {"marker": "o", "color": "#009E73", "markerfacecolor": "#009E73"},
    State.EQUAL: {"marker": "o", "color": "0.4", "markerfacecolor": "white"},
    State.NOT: {"marker": "x", "color": "#a33000"},
}


def of(figure: Figure) -> list[Order]:
    """Return the text's orders of the curves that are drawn, those of claims first.

    A claim and its other reading in the same figure have one order.
    """
    here = {claim.id for claim in figure.claims}
    predicates = [claim.predicate for claim in figure.claims if claim.reading_of not in here]
    parts = [
        part
        for one in predicates
        for part in (one.parts if isinstance(one, Every) else [one])
        if isinstance(part, Ordered) and part.metric is None
    ]
    found = [Order(one.above, one.start, one.end) for one in parts]
    orders = [*found, *figure.orders]
    return [one for i, one in enumerate(orders) if one not in orders[:i]]


def sheet(work: Work, curves: Curves) -> tuple[Sheet, Axes, Axes | None]:
    """Return an empty picture, its panel, and the strip above it if the text has an order."""
    rows = len(of(work.figure))
    if not rows:
        figure, (axes,) = shared.sheet(work, curves)
        return figure, axes, None
    width, height = style.size(len(work.figure.series))
    layout: dict[str, Any] = {"height_ratios": [rows * _ROW, height - 1.2], "sharex": True}
    size = (width, height + rows * _ROW)
    figure, (strip, axes) = shared.sheet(work, curves, 2, size, **layout)
    return figure, axes, strip


def draw(strip: Axes | None, work: Work, curves: Curves, where: Mapping[X, float]) -> list[Line2D]:
    """Mark every point of every order; return the legend's entries."""
    if strip is None:
        return []
    strip.set_axis_off()
    orders = of(work.figure)
    strip.set_ylim(len(orders), 0)
    met = set()
    for row, order in enumerate(orders):
        words = style.literal("the text: " + " above ".join(order.above))
        place: dict[str, Any] = {
            "transform": strip.get_yaxis_transform(),
            "fontsize": 7.5,
            "color": "0.3",
        }
        strip.text(0.0, row + 0.25, words, va="center", **place)
        for x, state in states(order, curves).items():
            strip.plot(where[x], row + 0.72, linestyle="", markersize=4.5, **_LOOKS[state])
            met.add(state)
    return [
        Line2D([], [], linestyle="", markersize=4.5, label=f"order: {state}", **_LOOKS[state])
        for state in State
        if state in met
    ]


def states(order: Order, curves: Curves) -> dict[X, State]:
    """Return the order of the curves at each point."""
    try:
        common, values = curves.together(order.above, None, order.start, order.end)
    except Unjudged:
        return {}
    return {x: max((_state(a[x], b[x]) for a, b in pairwise(values)), key=_WORSE) for x in common}


_WORSE = list(State).index


def _state(high: float, low: float) -> State:
    if abs(high - low) <= _EQUAL * max(abs(high), abs(low)):
        return State.EQUAL
    return State.SO if high > low else State.NOT
