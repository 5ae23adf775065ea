"""A metric at few points, with a group of bars per point and a bar per curve."""

from collections.abc import Mapping

from incast.plots import Picture, style
from incast.reproduce.data import Curves, X
from incast.reproduce.draw import axes as shared
from incast.reproduce.draw import orders
from incast.reproduce.draw.sweep import table
from incast.reproduce.runs import Work

_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++")
_WIDTH = 0.8  # width of a group of bars; the distance between groups is 1


def _errors(
    values: Mapping[X, float], band: Mapping[X, tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """Return how far the intervals reach below and above the values."""
    ends = [(value, *band.get(x, (value, value))) for x, value in values.items()]
    below = [max(value - low, 0.0) for value, low, _ in ends]
    return below, [max(high - value, 0.0) for value, _, high in ends]


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture:
    """Draw the bars with their confidence intervals."""
    del other
    figure, axes, strip = orders.sheet(work, curves)
    handles, data = [], []
    each = _WIDTH / max(len(curves.of), 1)
    place = {x: i for i, x in enumerate(work.xs)}
    for index, label in enumerate(curves.of):
        values, band = curves.values(label), curves.band(label)
        left = [place[x] - _WIDTH / 2 + (index + 0.5) * each for x in values]
        handles.append(
            axes.bar(
                left,
                list(values.values()),
                each * 0.92,
                yerr=_errors(values, band),
                label=label,
                color=style.COLOURS[index % len(style.COLOURS)],
                hatch=_HATCHES[index % len(_HATCHES)],
                edgecolor="0.15",
                linewidth=0.5,
                error_kw={"elinewidth": 0.9, "ecolor": "0.15"},
            )
        )
        data += [("here", label, x, value, band.get(x)) for x, value in values.items()]
    shared.positions(axes, work)
    axes.set_xticks(range(len(work.xs)), [str(x) for x in work.xs])
    axes.grid(visible=False, axis="x")
    plot = work.figure.plot
    if plot is not None and curves.metric is not None:
        shared.scales(axes, plot, curves.metric.label)
    style.legend(figure, [*handles, *orders.draw(strip, work, curves, place)])
    return Picture(figure, table(data))
