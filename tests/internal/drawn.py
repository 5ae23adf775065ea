"""Helpers that find legends and boxes in a picture, and a scenario to draw."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import incast
from conftest import document
from incast.plots import style
from incast.scenario.resolved import Resolved


def axes() -> Axes:
    (one,) = style.sheet("", "")[1]
    return one


def boxes(one: Axes) -> list[tuple[float, ...]]:
    """Return the left, bottom, width and height of every rectangle."""
    return [
        tuple(
            round(float(value), 6) for value in (*box.get_xy(), box.get_width(), box.get_height())
        )
        for box in one.patches
        if isinstance(box, Rectangle)
    ]


def named(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def resolved(**sections: Any) -> Resolved:
    return incast.load(document(**sections)).plan.points[0].here
