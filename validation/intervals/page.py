"""The page and the picture of the study of intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib

from validation.common.places import PAGES
from validation.intervals.judge import ALSO, HELD, ONE_MODE, SEVERAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from validation.intervals.judge import Judged

matplotlib.use("Agg")

_NAMES = {
    "goodput_bps": "goodput",
    "completion_s": "block, mean",
    "timeouts_per_block": "timeouts per block",
    "completion_p50_s": "block p50",
    "completion_p99_s": "block p99",
}


def lines(judged: Sequence[Judged]) -> list[str]:
    """Return a table with one row per point: the coverage and the width of the intervals."""
    names = [*HELD, *ALSO]
    rows = [f"| | {' | '.join(_NAMES[name] for name in names)} |", "|---|" + "--:|" * len(names)]
    for one in judged:
        cells = [_cell(one, name, "incast") for name in names]
        rows.append(f"| {one.point.name} | {' | '.join(cells)} |")
    return rows


def _cell(one: Judged, name: str, method: str) -> str:
    if (name, method) not in one.held:
        return "–"
    return f"{100 * one.held[name, method]:.1f} %, {one.width[name, method]:.2f}"


def _others(judged: Sequence[Judged], name: str) -> list[str]:
    methods = list(dict.fromkeys(method for one in judged for of, method in one.held if of == name))
    rows = [f"| | {' | '.join(methods)} |", "|---|" + "--:|" * len(methods)]
    for one in judged:
        cells = [_cell(one, name, method) for method in methods]
        rows.append(f"| {one.point.name} | {' | '.join(cells)} |")
    return rows


def write(judged: Sequence[Judged], seeds: int, repetitions: int) -> None:
    """Write page and picture."""
    parts = [
        f"""# Confidence intervals

Written by `make validate`; do not edit. How often does a 95 % interval of {seeds} seeds contain the
true mean, which is the mean of {seeds * repetitions} seeds? Each row is a read of 20 blocks at 1
Gbps with 64 KiB per server and a buffer of 100 KiB. The minimum RTO is 200 ms, unless the row names
another one. Each read was simulated with {repetitions} samples of {seeds} seeds
(`validation/intervals`). A cell gives the share of the intervals that contain the true mean, and
the median width of the intervals divided by the true mean. The share must be at least
{100 * ONE_MODE:.0f} % for distributions with one mode and {100 * SEVERAL:.0f} % at the knee. The
standard deviation of a share is 1.5 %.
""",
        *lines(judged),
        f"""
The percentiles are those of all blocks of the {seeds} seeds together. There is no requirement for
their intervals. Only 2 of 200 blocks are beyond the 99th percentile, and the interval of this
percentile ends at the slowest block of the sample. Therefore this interval contains the true value
in less than 95 % of the cases. More blocks or seeds improve this.

![Outcomes of single seeds, and the widths of intervals](intervals.png)

## The method, and what else was tried

At a knee, half of the seeds have a block that waits for a timer, and the other seeds have no such
block. No seed has a goodput in between. Student's interval assumes a normal distribution, so it
ends below zero and above the line rate. If one seed in eight is fast, a quarter of the samples have
no fast seed and miss the true mean. Bootstraps resample the same ten seeds, so they also miss the
true mean, and with small samples their intervals are too narrow at all points. Gaffke's interval is
valid for every distribution on a known range. Gaffke's method adds a value at the end of the range
to the sample, and weights all values by spacings of uniform random numbers. The interval ends at a
quantile of this weighted mean. If an outcome is only yes or no, Gaffke's interval is Clopper and
Pearson's interval. Gaffke's interval is too wide for seeds whose results agree. If ten seeds are
within one per cent of each other, it is not plausible that a tenth of all seeds have no goodput.

So in incast the method depends on the sample (`python/incast/results/intervals.py`). If no seed has
more than twice the value of another seed, the interval covers both Student's interval and Gaffke's
interval. For Gaffke's interval, the range then extends beyond the sample by a quarter of the
sample's range. This adds about a fifth to the width of Student's interval. If a seed has more than
twice the value of another seed, the interval is Gaffke's interval for the range of all possible
values, from 0 to the line rate. If seeds scatter so widely, Gaffke's interval is hardly wider than
Student's. For times and counts, which have no upper bound, the range extends beyond the sample by
half of the sample's range, and the interval covers at least Student's.

Goodput, by method:
""",
        *_others(judged, "goodput_bps"),
        "\nMean time of a block:\n",
        *_others(judged, "completion_s"),
        f"""
No method can include an outcome that no seed of the sample has. If one seed in ten waits for a
timer, 35 % of all samples of {seeds} seeds and 73 % of all samples of three seeds have no such
seed. The intervals of these samples are narrow and wrong. If some seeds collapse and others do not,
`incast run` says so under its table.
""",
    ]
    (PAGES / "intervals.md").write_text("\n".join(parts))
    _draw(judged)


def _draw(judged: Sequence[Judged]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), layout="constrained")
    panels = figure.subplots(2, 3)
    for axes, one in zip(panels.flat, judged, strict=True):
        axes.hist(one.goodput / 1e6, bins=60, color="0.55")
        mean = one.goodput.mean() / 1e6
        top = axes.get_ylim()[1] * 1.5
        axes.set_ylim(0, top)
        axes.axvline(mean, ymax=0.7, color="black", linewidth=1.2)
        looks = {"Student": ("tab:orange", 0.72), "incast": ("tab:blue", 0.86)}
        for method, (colour, height) in looks.items():
            half = one.width["goodput_bps", method] * mean / 2
            axes.plot([mean - half, mean + half], [height * top] * 2, color=colour, linewidth=2.5)
            share = f"{method}: {100 * one.held['goodput_bps', method]:.1f} %"
            axes.annotate(
                share, (0.02, height + 0.015), xycoords="axes fraction", va="bottom",
                color=colour, fontsize=8,
            )  # fmt: skip
        axes.set_title(one.point.name.replace(": ", ":\n"), fontsize=8.5)
        axes.set_yticks([])
        axes.tick_params(labelsize=8)
    figure.supxlabel(
        "goodput of a seed [Mbps]; line: mean; bars: median width of intervals", size=9
    )
    figure.savefig(PAGES / "intervals.png", dpi=130)
