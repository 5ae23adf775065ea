"""Goodput against the swept key: the picture that shows the collapse."""

import polars as pl

from incast.plots import Moment, Picture, choice, curves, facts, real, style, theory
from incast.results import Results
from incast.results.intervals import HIGH, LOW
from incast.results.series import split

_GBPS_FROM = 2e9  # rates of at least this value are drawn in Gbps
_BANDS = 4  # maximum number of curves with bands; more bands would overlap
_SPREAD = 2.2  # typographic points between the interval bars of two curves
_NEAR = 0.05  # share of the line rate; background traffic below it has its own scale


def draw(results: Results, moment: Moment) -> Picture:
    """Draw mean and confidence band of every curve, and the line rate."""
    summary = choice.points(results, moment)
    axis, series = split(summary, results.plan.swept)
    lines = style.lines(results.resolved(point) for point in summary["point"])
    figure, (axes,) = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        size=style.size(len(series)),
    )
    most = max(curves.interval(summary, "goodput_bps")[1].drop_nulls())
    if moment.group == "all" or most >= _NEAR * max(lines):
        most = max(most, *lines)
    else:  # background traffic is often far below the line rate
        lines = {}
    unit, name = scale(most)
    where = curves.places(axes, axis, summary)
    for index, one in enumerate(series):
        looks = style.curve(index)
        alone = moment.theory is None and moment.real is None
        label = one.label or ("" if alone else "simulated")
        curves.draw(
            axes, one, "goodput_bps",
            axis=axis, where=where, unit=unit, looks=looks, label=label,
            beside=_SPREAD * (index - (len(series) - 1) / 2) if len(series) > _BANDS else None,
        )  # fmt: skip
        if moment.theory is not None:
            theory.beside(axes, moment.theory, one, where, unit, looks["color"])
        if moment.real is not None:
            real.beside(axes, moment.real, one, where, unit, looks["color"])
    for line, words in lines.items():
        style.guide(axes, line / unit, f"line rate {words}")
    curves.unfinished(axes, series, where)
    axes.set_ylabel(f"goodput [{name}], mean and 95 % CI")
    axes.set_ylim(0, (most or 1.0) / unit * 1.1)
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > 1:
        style.legend(figure, handles)
    columns = ["goodput_bps", f"goodput_bps{LOW}", f"goodput_bps{HIGH}", "runs", "ok"]
    drawn = summary.select("point", *results.plan.swept, *map(pl.col, columns))
    if moment.theory is not None:
        drawn = theory.joined(drawn, moment.theory)
    if moment.real is not None:
        drawn = real.joined(drawn, moment.real)
    return Picture(figure, drawn.drop("point"))


def scale(most: float) -> tuple[float, str]:
    """Return the unit in which rates up to `most` bit/s are written, and its name."""
    if most >= _GBPS_FROM:
        return 1e9, "Gbps"
    return (1e6, "Mbps") if most >= 1e5 else (1e3, "kbps")  # noqa: PLR2004 (0.1 Mbps)
