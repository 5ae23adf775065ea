"""The distribution of completion times: the median at the bottom, the tail at the top."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullFormatter, NullLocator

from incast.errors import ResultsError
from incast.plots import Moment, Picture, choice, facts, style
from incast.results import Results
from incast.results.series import label_of, split, written

_CURVES = 7  # maximum number in a panel; more curves are hard to distinguish
_PANELS = 9
_COLUMNS = 3  # maximum number of panels side by side
_MILLI = 1e-3
_DECADES = 100.0  # an axis that spans a smaller factor has labels between its decades
_MARKS = 6  # markers along a curve, to distinguish it from other curves in grey
_APART = 0.07  # share of the height; labels that are nearer to each other would touch
_SHARES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True)
class _Curve:
    """The completion times of one point, in order."""

    label: str
    swept: dict[str, Any]
    times: np.ndarray[Any, np.dtype[np.float64]]


def draw(results: Results, moment: Moment) -> Picture:
    """Draw a curve per point, or, for many points, a panel per value of the axis."""
    summary = choice.points(results, moment)
    found = _blocks(results, summary, moment)
    panels, note = _panels(results, summary, found)
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    several = len(panels) > 1
    figure, drawn = style.sheet(
        facts.title(results),
        facts.of_sweep(results, summary["point"], moment),
        nrows=rows,
        ncols=columns,
        size=(max(6.4, 3.1 * columns), 2.5 * rows + 1.6 if several else 4.3),
        sharex=True,
        sharey=True,
    )
    for spare in drawn[len(panels) :]:
        spare.set_visible(False)
    most = max(len(curve.times) for _, curves in panels for curve in curves)
    every = [curve.times for _, curves in panels for curve in curves]
    ends = float(min(map(np.min, every))), float(max(map(np.max, every)))
    handles: dict[str, Any] = {}
    for index, (axes, (name, curves)) in enumerate(zip(drawn, panels, strict=False)):
        _scale(axes, most, ends)
        for curve in curves:
            handles.setdefault(curve.label, None)
            place = list(handles).index(curve.label)
            handles[curve.label] = _line(axes, curve, place, most)
        axes.set_title(style.literal(name), fontsize=9)
        if index % columns == 0:
            axes.set_ylabel("complete by then [%]")
        if index + columns >= len(panels):
            what = "block" if moment.group == "all" else "flow"
            axes.set_xlabel(f"completion time of a {what} [ms]{note}")
            axes.tick_params(labelbottom=True)
    style.legend(figure, [handle for label, handle in handles.items() if label])
    return Picture(figure, _data(panels))


def _blocks(results: Results, summary: pl.DataFrame, moment: Moment) -> list[_Curve]:
    """Return a curve for each point that has blocks, in the order of the plan."""
    swept = results.plan.swept
    shown = summary.select(swept)
    blocks = results.blocks(moment.group)
    if swept:
        blocks = blocks.join(shown.unique(), on=swept, how="semi", maintain_order="left")
    if blocks.is_empty():
        whose = "the workload" if moment.group == "all" else f"the group {moment.group!r}"
        raise ResultsError(f"cdf: {whose} has no block or flow that finishes")
    varying = [key for key in swept if shown[key].n_unique() > 1]
    groups = blocks.group_by(swept, maintain_order=True) if swept else [((), blocks)]
    found = []
    for values, rows in groups:
        point = dict(zip(swept, values, strict=True))
        label = label_of({key: point[key] for key in varying})
        found.append(_Curve(label, point, np.sort(rows["completion_s"].to_numpy())))
    return found


def _panels(
    results: Results, summary: pl.DataFrame, found: Sequence[_Curve]
) -> tuple[list[tuple[str, list[_Curve]]], str]:
    """Return the panels, each with its name and curves, and a note on the panels."""
    if len(found) <= _CURVES:
        return [("", list(found))], ""
    axis, series = split(summary, results.plan.swept)
    assert axis is not None  # noqa: S101 (several points differ in at least one key)
    if len(series) == 1:
        kept = np.unique(np.linspace(0, len(found) - 1, _CURVES).round().astype(int))
        note = f"  ({len(kept)} of {len(found)} points)"
        return [("", [found[int(index)] for index in kept])], note
    values = list(dict.fromkeys(curve.swept[axis] for curve in found))
    if len(values) > _PANELS or len(series) > _CURVES:
        raise ResultsError(
            f"cdf: {len(found)} points are too many to see (at most {_PANELS} panels of {_CURVES} "
            f"curves); choose some by where, e.g. {axis}"
        )
    names = [key for key in results.plan.swept if key != axis and summary[key].n_unique() > 1]
    panels = []
    for value in values:
        curves = [
            _Curve(label_of({key: curve.swept[key] for key in names}), curve.swept, curve.times)
            for curve in found
            if curve.swept[axis] == value
        ]
        panels.append((f"{style.name_of(axis)} = {written(value)}", curves))
    return panels, ""


def _scale(axes: Axes, most: int, times: tuple[float, float]) -> None:
    """Space 90 %, 99 %, 99.9 % and so on evenly, so that the tail is as visible as the median."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if times[1] < _DECADES * times[0]:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yscale(
        "function",
        functions=(
            lambda share: -np.log10(np.clip(1 - np.asarray(share), 1e-9, 1.0)),
            lambda height: 1 - 10.0 ** -np.asarray(height),
        ),
    )
    top = _top(most)
    axes.set_ylim(0, top)
    height = -np.log10(1 - top)
    apart = [share for share in _SHARES if -np.log10(1 - share) < (1 - _APART) * height]
    axes.yaxis.set_major_locator(FixedLocator([*apart, top]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda share, _: "all" if share == top else f"{100 * share:.6g}")


def _top(most: int) -> float:
    """Return the share at which the slowest of `most` blocks is drawn; 100 % cannot be drawn."""
    return 1 - 0.5 / max(most, 2)


def _line(axes: Axes, curve: _Curve, index: int, most: int) -> Any:  # noqa: ANN401 (an artist)
    count = len(curve.times)
    shares = np.minimum(np.arange(1, count + 1) / count, _top(most))
    x = np.concatenate([curve.times[:1], curve.times]) / _MILLI
    y = np.concatenate([[0.0], shares])
    looks = style.curve(index) | {"markevery": max(count // _MARKS, 1)}
    (line,) = axes.plot(x, y, drawstyle="steps-post", label=curve.label, **looks)
    return line


def _data(panels: Sequence[tuple[str, Sequence[_Curve]]]) -> pl.DataFrame:
    """Return every drawn block, and the share of its point's blocks that are no slower."""
    frames = [
        pl.DataFrame({"completion_s": curve.times}).select(
            *(pl.lit(value).alias(key) for key, value in curve.swept.items()),
            "completion_s",
            share=pl.int_range(1, pl.len() + 1) / pl.len(),
        )
        for _, curves in panels
        for curve in curves
    ]
    return pl.concat(frames)
