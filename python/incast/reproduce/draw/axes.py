"""Common parts of the pictures: the empty picture with its title, and the axes."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Sheet

from incast import units
from incast.plots import style
from incast.reproduce.data import Curves, X
from incast.reproduce.figure import Figure, Plot
from incast.reproduce.runs import Work

_NAMES = {
    "packets_max": "waiting",
    "packets_last": "waiting",
    "drops": "dropped",
    "arrivals": "arrived",
}


def sheet(
    work: Work,
    curves: Curves,
    panels: int = 1,
    size: tuple[float, float] | None = None,
    **layout: Any,
) -> tuple[Sheet, list[Axes]]:
    """Return an empty picture with its title, and the number of seeds below the title."""
    figure = work.figure
    seeds = {len({job.seed for job in need.jobs}) for need in work.needs if need.jobs}
    runs = f"{curves.stat} of {max(seeds)} seeds" if seeds and max(seeds) > 1 else "one seed"
    facts = f"{work.chosen.paper.name}, {work.chosen.place}"
    if seeds and figure.search is None and figure.kind != "history":
        facts += f"; {runs}"
    if curves.unfinished:
        facts += f"; {units.plural(curves.unfinished, 'run')} did not finish and are not counted"
    size = size or style.size(len(figure.series))
    return style.sheet(figure.title, facts, panels, size, **layout)


def name(plot: Plot, column: str) -> str:
    """Return the name of a trace's column in the legend."""
    return plot.names.get(column, _NAMES.get(column, column))


def scales(axes: Axes, plot: Plot, label: str) -> None:
    """Set the label, the scale and the limits of the vertical axis."""
    axes.set_ylabel(plot.label or label)
    axes.set_yscale(plot.yscale)
    if plot.ylim is not None:
        axes.set_ylim(*plot.ylim)
    elif plot.yscale == "linear":
        axes.set_ylim(bottom=0)


def positions(axes: Axes, work: Work) -> dict[X, float]:
    """Set up the horizontal axis; return the position of each point on the axis."""
    xs = work.xs
    axes.set_xlabel(_label(work.figure))
    if all(isinstance(x, int | float) for x in xs):
        if work.figure.plot is not None and work.figure.plot.xscale == "log":
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        return {x: float(x) for x in xs}
    axes.set_xticks(range(len(xs)), [str(x) for x in xs])
    return {x: float(i) for i, x in enumerate(xs)}


def _label(figure: Figure) -> str:
    if figure.x is None:
        return ""
    return figure.x.label or ("servers" if figure.x.key == "workload.servers" else figure.x.key)
