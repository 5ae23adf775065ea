"""Goodput predicted by models: a separate picture, or dashed lines next to simulated curves."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes

from incast.errors import ModelError
from incast.models.theory import Theory
from incast.plots import Picture, style
from incast.plots.sheet import RC
from incast.results.series import Series, split
from incast.scenario.facts import of_plan

_GBPS_FROM = 2e9  # line rates of at least this value are drawn in Gbps


def draw(theory: Theory) -> Picture:
    """Draw the goodput of every model that predicts it, and the line rate.

    Raises
    ------
    ModelError
        No model predicts the goodput at any point.
    """
    from matplotlib import rc_context

    with rc_context(RC):
        return _draw(theory)


def _draw(theory: Theory) -> Picture:
    known = goodput_of(theory)
    if known.is_empty():
        raise ModelError("no model that applies predicts the goodput: there is nothing to plot")
    swept = theory.plan.swept
    axis, series = split(known, [*swept, "model"] if known["model"].n_unique() > 1 else swept)
    points = [theory.plan.points[point].here for point in known["point"]]
    lines = style.lines(points)
    unit, name = (1e9, "Gbps") if max(lines) >= _GBPS_FROM else (1e6, "Mbps")
    title = theory.plan.title or "Untitled scenario"
    facts = f"{of_plan(theory.plan)}; theory, nothing simulated"
    figure, (axes,) = style.sheet(title, facts, size=style.size(len(series)))
    everywhere = style.positions(axes, axis, known[axis].to_list() if axis else [""] * len(known))
    where = dict(zip(known["point"], everywhere, strict=True))
    models = ", ".join(known["model"].unique(maintain_order=True))
    for index, one in enumerate(series):
        looks = style.curve(index) | {"linestyle": "--", "markerfacecolor": "white"}
        looks |= {"markeredgecolor": looks["color"], "markeredgewidth": 1.1}
        x = [where[point] for point in one.points["point"]]
        goodput = one.points["goodput_bps"] / unit
        axes.plot(x, goodput, label=one.label or models, clip_on=False, **looks)
    for line, words in lines.items():
        style.guide(axes, line / unit, f"line rate {words}")
    axes.set_ylabel(f"goodput [{name}], {models}")
    axes.set_ylim(0, max(lines) / unit * 1.1)
    style.legend(figure, axes.get_legend_handles_labels()[0])
    return Picture(figure, known.select(*swept, "model", "goodput_bps"))


def beside(
    axes: Axes, theory: Theory, curve: Series, where: dict[int, Any], unit: float, colour: str
) -> None:
    """Draw models as dashed lines next to a simulated curve."""
    known = goodput_of(theory).filter(pl.col("point").is_in(curve.points["point"].to_list()))
    for (name,), rows in known.group_by("model", maintain_order=True):
        x = [where[point] for point in rows["point"]]
        label = f"{curve.label} ({name}, model)" if curve.label else f"{name} (model)"
        axes.plot(x, rows["goodput_bps"] / unit, "--", color=colour, lw=1.2, label=label)


def joined(drawn: pl.DataFrame, theory: Theory) -> pl.DataFrame:
    """Add a column with the goodput of each model to simulated data, point by point."""
    for (name,), rows in goodput_of(theory).group_by("model", maintain_order=True):
        column = pl.col("goodput_bps").alias(f"{name}.goodput_bps")
        drawn = drawn.join(
            rows.select(pl.col("point").cast(drawn["point"].dtype), column), on="point", how="left"
        )
    return drawn


def goodput_of(theory: Theory) -> pl.DataFrame:
    """Return the rows of models that predict the goodput, in the order of the plan."""
    if "goodput_bps" not in theory.frame.columns:
        return pl.DataFrame(schema={"point": pl.Int64, "model": pl.String})
    return theory.frame.filter(pl.col("goodput_bps").is_not_null())
