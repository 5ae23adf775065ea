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
    """Return a table: a row per point, what the intervals of tables hold, and how wide they are."""
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

Written by `make validate`; do not edit. How often does a 95 % interval of {seeds} seeds hold the
truth, the mean over {seeds * repetitions} of them? At each of these points {repetitions} samples of
{seeds} seeds were taken: a read of 20 blocks on 1 Gbps with 64 KiB per server, a buffer of 100 KiB,
and an RTO min of 200 ms where nothing else is said (`validation/intervals`). Wanted:
{100 * ONE_MODE:.0f} % where outcomes have one mode, {100 * SEVERAL:.0f} % at the knee. A cell has
the share of intervals that hold the truth, and their median width over it. Chance moves a share of
{repetitions} by 1.5 % (one standard deviation).
""",
        *lines(judged),
        f"""
Of the percentiles, which are those of all blocks of the {seeds} seeds together, nothing was wanted:
2 of 200 blocks are beyond the 99th, and an interval of it ends at the slowest block that there is,
so that it holds the truth less often than it says. More blocks or seeds mend that.

![Outcomes of single seeds, and the widths of intervals](intervals.png)

## The method, and what else was tried

Half of the seeds at a knee have a block that waits for a timer, and no block waits for half of one.
Student's interval takes such samples for bell-shaped: it ends below zero and above the line rate,
and where one seed in eight is fast, a quarter of the samples have none of these and miss the truth.
Bootstraps resample the same ten seeds, so they miss it, too, and of small samples they are too
narrow everywhere. What is safe for every distribution on a known range is
Gaffke's interval: the mean of the sample and of one more value at the end of the range, weighted by
spacings of uniform numbers. Of yes and no it is Clopper and Pearson's. But ten seeds that agree
within a per cent do not allow a tenth of all to be nought, in a network.

So the width is chosen by the sample (`python/incast/results/intervals.py`). If no seed has more
than twice what another has, the interval spans Student's and Gaffke's, for a range that ends a
quarter of the sample's beyond it: that costs about a fifth of the width of Student's alone. If
one has, it is Gaffke's for what is possible, 0 to the line rate: where seeds scatter so much, it is
hardly wider than Student's. Quantities without an upper end, times and counts, get a half of the
sample's range beyond it for one, and at least Student's.

Goodput, by method:
""",
        *_others(judged, "goodput_bps"),
        "\nMean time of a block:\n",
        *_others(judged, "completion_s"),
        f"""
No method knows what no seed has shown. Where one seed in ten waits, 35 % of all samples of {seeds}
seeds and 73 % of all samples of three have none that does, and their intervals are narrow and
wrong. The sentence under the table says so where some seeds collapse and others do not.
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
