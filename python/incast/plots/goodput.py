"""Goodput against the swept key: the picture in which the collapse is seen."""

import polars as pl

from incast.plots import Moment, Picture, facts, style, theory
from incast.results import Results
from incast.results.series import split

_GBPS_FROM = 2e9  # line rates from here on are drawn in Gbps


def draw(results: Results, moment: Moment) -> Picture:
    """Draw mean and confidence band of every curve, and the line rate."""
    del moment
    summary = results.summary()
    axis, series = split(summary, results.plan.swept)
    lines = style.lines(results.resolved(point) for point in summary["point"])
    unit, name = (1e9, "Gbps") if max(lines) >= _GBPS_FROM else (1e6, "Mbps")
    figure, (axes,) = style.sheet(
        facts.title(results), facts.of_sweep(results), size=style.size(len(series))
    )
    everywhere = style.positions(axes, axis, summary[axis].to_list() if axis else [""])
    where = dict(zip(summary["point"], everywhere, strict=True))
    for index, one in enumerate(series):
        x = [where[point] for point in one.points["point"]]
        mean = one.points["goodput_bps"] / unit
        half = one.points["goodput_bps_ci95"].fill_null(0) / unit
        looks = style.curve(index)
        label = one.label or ("simulated" if results.theory is not None else "")
        if style.ordered(one.points[axis] if axis else ()):
            axes.plot(x, mean, label=label, clip_on=False, **looks)
            axes.fill_between(x, mean - half, mean + half, color=looks["color"], alpha=0.2, lw=0)
        else:
            looks["linestyle"] = "none"
            axes.errorbar(x, mean, half, label=label, capsize=3, elinewidth=1.0, **looks)
        if results.theory is not None:
            theory.beside(axes, results.theory, one, where, unit, looks["color"])
    for line, words in lines.items():
        style.guide(axes, line / unit, f"line rate {words}")
    axes.set_ylabel(f"goodput [{name}], mean and 95 % CI")
    axes.set_ylim(0, max([*lines, *summary["goodput_bps"].drop_nulls()]) / unit * 1.1)
    if len(series) > 1 or results.theory is not None:
        style.legend(figure, axes.get_legend_handles_labels()[0])
    columns = ["goodput_bps", "goodput_bps_ci95", "runs", "ok"]
    drawn = summary.select("point", *results.plan.swept, *map(pl.col, columns))
    if results.theory is not None:
        drawn = theory.joined(drawn, results.theory)
    return Picture(figure, drawn.drop("point"))
