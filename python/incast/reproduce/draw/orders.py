"""A strip above the picture: at which points the curves have the order that the text states."""

from collections.abc import Mapping, Sequence
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

_ROW = 0.4  # inches
_EQUAL = 0.02  # curves that differ by a smaller share count as equal


class State(StrEnum):
    """Whether a point agrees with the order of the text."""

    SO = "as the paper has it"
    EQUAL = "within 2 %"
    NOT = "not so"


_LOOKS: dict[State, dict[str, Any]] = {
    State.SO: {"marker": "o", "color": "#009E73", "markerfacecolor": "#009E73"},
    State.EQUAL: {"marker": "o", "color": "0.4", "markerfacecolor": "white"},
    State.NOT: {"marker": "x", "color": "#a33000"},
}


def of(figure: Figure) -> list[Order]:
    """Return the text's orders of the drawn curves; the orders of claims come first.

    If a figure has a claim and another reading of this claim, both give only one order.
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


def rows(figure: Figure) -> list[list[Order]]:
    """Return rows of orders. Pairs with the same upper or the same lower curve share a row."""
    found: list[list[Order]] = []
    for order in of(figure):
        for end in (0, -1):
            alike = (row for row in found if all(_meet(one, order, end) for one in row))
            row = next(alike, None)
            if row is not None:
                row.append(order)
                break
        else:
            found.append([order])
    return found


def _meet(one: Order, other: Order, end: int) -> bool:
    pairs = len(one.above) == len(other.above) == 2  # noqa: PLR2004 (a pair)
    return pairs and one.above[end] == other.above[end]


def words(row: Sequence[Order]) -> str:
    """Return the statement of a row: `A above B, C`."""
    if len(row[0].above) > 2:  # noqa: PLR2004 (a pair)
        return " above ".join(row[0].above)
    above, below = (list(dict.fromkeys(one.above[end] for one in row)) for end in (0, -1))
    comma = "; " if any("," in label for label in above + below) else ", "
    return f"{comma.join(above)} above {comma.join(below)}"


def sheet(work: Work, curves: Curves) -> tuple[Sheet, Axes, Axes | None]:
    """Return an empty picture, its panel, and the strip above the panel if there are orders."""
    count = len(rows(work.figure))
    if not count:
        figure, (axes,) = shared.sheet(work, curves)
        return figure, axes, None
    width, height = style.size(len(work.figure.series))
    layout: dict[str, Any] = {"height_ratios": [count * _ROW, height - 1.2], "sharex": True}
    size = (width, height + count * _ROW)
    figure, (strip, axes) = shared.sheet(work, curves, 2, size, **layout)
    return figure, axes, strip


def draw(strip: Axes | None, work: Work, curves: Curves, where: Mapping[X, float]) -> list[Line2D]:
    """Mark the worst state of each row at every point; return the entries of the legend."""
    if strip is None:
        return []
    strip.set_axis_off()
    found = rows(work.figure)
    strip.set_ylim(len(found), 0)
    met = set()
    for number, row in enumerate(found):
        place: dict[str, Any] = {
            "transform": strip.get_yaxis_transform(),
            "fontsize": 7.5,
            "color": "0.3",
        }
        told = style.literal(f"the paper: {words(row)}")
        strip.text(0.0, number + 0.2, told, va="center", **place)
        for x, state in worst(row, curves).items():
            strip.plot(where[x], number + 0.68, linestyle="", markersize=4.5, **_LOOKS[state])
            met.add(state)
    return [
        Line2D([], [], linestyle="", markersize=4.5, label=f"order: {state}", **_LOOKS[state])
        for state in State
        if state in met
    ]


def worst(row: Sequence[Order], curves: Curves) -> dict[X, State]:
    """Return the worst state of several orders at each point to which an order applies."""
    found: dict[X, State] = {}
    for order in row:
        for x, state in states(order, curves).items():
            found[x] = max(found.get(x, state), state, key=_WORSE)
    return found


def states(order: Order, curves: Curves) -> dict[X, State]:
    """Return at each point whether the curves are in this order."""
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
