"""A metric as a map: a row per curve, a column per point, a shade and a number in each cell."""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.draw.sweep import table
from incast.reproduce.runs import Work

_CELL = (0.5, 0.235)  # inches: the size of a cell
_LETTERS_PER_INCH = 13.5  # in the names of rows
_WHITE_FROM = 0.55  # a cell with at least this share of the maximum is dark
_FRAME = "#D55E00"


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture | None:
    """Draw the cells, and a frame around cells within a curve's `printed` range."""
    del other
    plot = work.figure.plot
    if plot is None or curves.metric is None:
        return None
    labels, xs = list(curves.of), work.xs
    names = max(map(len, labels)) / _LETTERS_PER_INCH
    wide = max(names + 0.6 + _CELL[0] * len(xs), 6.4)
    size = (wide, 1.9 + _CELL[1] * len(labels))
    figure, (axes,) = shared.sheet(work, curves, size=size)
    values = {label: curves.values(label) for label in labels}
    most = max((y for one in values.values() for y in one.values()), default=1.0) or 1.0
    printed = {one.label: one.printed for one in work.figure.series if one.printed}
    for row, label in enumerate(labels):
        low, high = printed.get(label, (1.0, 0.0))
        for x, y in values[label].items():
            _cell(axes, xs.index(x), row, y, y / most, framed=low <= y <= high)
    axes.set_xlim(-0.5, len(xs) - 0.5)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    shared.positions(axes, work)
    axes.set_xscale("linear")
    axes.set_xticks(range(len(xs)), [str(x) for x in xs])
    axes.set_yticks(range(len(labels)), [style.literal(label) for label in labels])
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for border in _borders(labels):
        axes.axhline(border, color="white", lw=4)
    axes.spines[["left", "bottom"]].set_visible(False)
    handles = [Patch(facecolor="0.6", label=f"number: {plot.label or curves.metric.label}")]
    if printed:
        handles.append(Patch(label="as the paper has it", fill=False, edgecolor=_FRAME, lw=1.6))
    style.legend(figure, handles)
    data = [
        ("here", label, x, y, curves.band(label).get(x))
        for label in labels
        for x, y in values[label].items()
    ]
    return Picture(figure, table(data))


def _cell(axes: Axes, x: int, y: int, value: float, share: float, *, framed: bool) -> None:
    shade = str(round(0.97 - 0.75 * share, 3))
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, edgecolor="white", lw=0.8))
    colour = "white" if share >= _WHITE_FROM else "black"
    axes.text(x, y, f"{value:.3g}", ha="center", va="center", fontsize=8.5, color=colour)
    if framed:
        corner = (x - 0.44, y - 0.4)
        frame = Rectangle(corner, 0.88, 0.8, fill=False, edgecolor=_FRAME, lw=1.8, zorder=3)
        axes.add_patch(frame)


def _borders(labels: Sequence[str]) -> list[float]:
    """Return the borders between rows whose names differ before the last comma."""
    groups = [label.rpartition(", ")[0] for label in labels]
    return [row + 0.5 for row, (one, two) in enumerate(pairwise(groups)) if one != two]
