"""The frequencies of values in a column of a trace, with a panel per curve on common axes."""

import numpy as np
import polars as pl

from incast.errors import FigureError
from incast.plots import Picture, style
from incast.reproduce.data import Curves
from incast.reproduce.draw import axes as shared
from incast.reproduce.runs import Work

_BINS = 20


def draw(work: Work, curves: Curves, other: Curves | None) -> Picture:
    """Draw the frequencies per run."""
    del other
    plot = work.figure.plot
    if plot is None:
        raise FigureError(f"{work.chosen.name}: plot is missing")
    values = {
        label: [
            np.asarray(frame[plot.y], dtype=float) * plot.scale for frame in curves.traced(label)
        ]
        for label in curves.of
    }
    edges = _edges(plot.bins, [run for runs in values.values() for run in runs])
    figure, panels = shared.sheet(
        work,
        curves,
        panels=len(values),
        size=(6.4, 1.4 + 1.1 * len(values)),
        sharex=True,
        sharey=True,
    )
    data = []
    for index, (label, runs) in enumerate(values.items()):
        counts = sum((np.histogram(run, edges)[0] for run in runs), np.zeros(len(edges) - 1))
        mean = counts / max(len(runs), 1)
        axes = panels[index]
        axes.bar(
            edges[:-1],
            mean,
            np.diff(edges),
            align="edge",
            color=style.COLOURS[index % len(style.COLOURS)],
            edgecolor="0.15",
            linewidth=0.4,
        )
        axes.text(
            0.99, 0.92, f"{label}: {mean.sum():.0f}", transform=axes.transAxes, ha="right", va="top"
        )
        data += [
            {"series": label, "from": low, "to": high, "frequency": one}
            for low, high, one in zip(edges, edges[1:], mean, strict=False)
        ]
    panels[-1].set_xlabel(plot.label or plot.y)
    panels[len(panels) // 2].set_ylabel("frequency")
    return Picture(figure, pl.DataFrame(data))


def _edges(given: list[float] | None, values: list["np.ndarray"]) -> "np.ndarray":
    if given is not None:
        return np.asarray(given, dtype=float)
    every = np.concatenate(values) if values else np.zeros(0)
    return np.histogram_bin_edges(every, _BINS) if len(every) else np.linspace(0, 1, _BINS)
