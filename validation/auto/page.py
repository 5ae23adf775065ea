"""Verdicts, page and picture of the remedies' `auto`."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from validation.auto.compare import (
    COPIES,
    CWND_DSR,
    MSS_DSR,
    READINGS,
    SEEDS,
    SEGMENTS,
    TOLERANCE,
    seconds,
)
from validation.common.judge import Verdict
from validation.common.page import verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from validation.auto.compare import Point, Reading

OPENING = f"""# Evaluation of `auto`

Written by `make validate` (`validation/auto`); do not edit. With `auto`,
[`prob-rtx`](../reference/remedies.md) chooses its probability by a rule, and
[`resize`](../reference/remedies.md) chooses its segment size and its window by rules. This page
compares these rules with fixed values of the parameters, on the star of Kulkarni and Agrawal: 1
Gbps, 50 us per link, 256 KiB per server, RTOmin 200 ms, and a buffer of 32 packets, or 32 KiB for
`resize`. The seeds are {SEEDS[0]} to {SEEDS[-1]}; the rules were developed with seeds 1 to 5.
`prob-rtx` is simulated for {COPIES[0].seconds} s, but for {seconds(COPIES[0], 48)} s with 48
servers, because lost SYNs then cost the first 3 s. `resize` is simulated for {SEGMENTS[0].seconds}
s.

The goodput of `auto` must be at most {TOLERANCE:.0%} below that of the best fixed value, or the
difference must be undecided. The difference is undecided if the 95 % interval of the paired
differences (Student's t, seed by seed) includes zero. The best fixed value is the best of seven
values (`prob-rtx`) or of twelve values (`resize`), and it is chosen after the runs. This choice
favours the fixed value over `auto`. If the interval is wide, “undecided” says little.
"""

PUBLISHED = {
    "prob-rtx: head, at once": 8,
    "prob-rtx: highest, after recovery": 8,
    "resize: compressed headers": 4,
    "resize: full headers": 6,
}
"""Minimum number of points at which auto is close enough or undecided; `resize` misses its bar."""

TABLES = f"""
`resize` misses its bars at some points, because the range of good values of `cwnd_dsr` is narrow.
Each server sets `cwnd_dsr` by its own first loss, which happens at windows that differ by a factor
of two. If the segments of some servers grow too early or too late, a block often waits 200 ms for
one of these servers ([where `resize` stops working](../reference/remedies.md)). A few more or fewer
such waits decide the goodput of a run of 2 s, so the number of points that hold changes with the
seeds. `make validate` fails if `resize` holds at fewer than
{PUBLISHED["resize: compressed headers"]} of 8 points with compressed headers, or at fewer than
{PUBLISHED["resize: full headers"]} of 8 with full headers.

The tables give the goodput in Mbps. “behind” is the goodput of the best fixed value minus the
goodput of `auto`, with the 95 % interval of this difference.
"""

TEXT = "50/50"
"""Kulkarni and Agrawal's parameters for `resize`."""


def judge(points: list[Point]) -> list[Verdict]:
    """Judge every reading by the bar, and compare `resize` with the paper's own values, too."""
    found = []
    run = [reading for reading in READINGS if any(it.reading == reading for it in points)]
    for reading in run:
        mine = [it for it in points if it.reading == reading]
        misses = [it for it in mine if not _holds(it)]
        close = sum(it.is_close for it in mine)
        found.append(
            Verdict(
                f"{reading.name}: at most {TOLERANCE:.0%} behind the best, or undecided",
                f"{len(mine) - len(misses)} of {len(mine)} points, {close} of them within "
                f"{TOLERANCE:.0%}; worst {max(it.share for it in mine):.1%}",
                tuple(f"{it.servers} servers: {it.share:.1%} behind {it.best}" for it in misses),
                not misses,
            )
        )
    return found + [_beside_the_text(it, points) for it in SEGMENTS if it in run]


def holding(points: list[Point], name: str) -> int:
    """Return the number of points of a reading at which the bar holds."""
    return sum(_holds(it) for it in points if it.reading.name == name)


def _holds(point: Point) -> bool:
    return point.is_close or point.is_undecided


def _beside_the_text(reading: Reading, points: list[Point]) -> Verdict:
    ratios = {
        it.servers: statistics.mean(it.auto) / statistics.mean(it.given[TEXT])
        for it in points
        if it.reading == reading
    }
    misses = tuple(f"{n} servers: {it:.2f}" for n, it in ratios.items() if it < 1 - TOLERANCE)
    return Verdict(
        f"{reading.name}: at most {TOLERANCE:.0%} behind {TEXT}, the paper's values",
        f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f} times its goodput",
        misses,
        not misses,
    )


def write(folder: Path, points: list[Point], found: list[Verdict]) -> None:
    """Write `auto.md` and its picture into the folder."""
    _draw(folder / "auto.png", points)
    lines = [OPENING, *verdicts(found), "", "![Goodput over servers](auto.png)", TABLES]
    for reading in READINGS:
        lines += [f"## {reading.name}", "", f"The columns are values of {reading.keys}.", ""]
        lines += [*_table(points, reading), ""]
    (folder / "auto.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _table(points: list[Point], reading: Reading) -> list[str]:
    heads = ["N", *reading.given, "auto", "best", "behind"]
    lines = [f"| {' | '.join(heads)} | |", "|" + "--:|" * len(heads) + "---|"]
    for it in points:
        if it.reading != reading:
            continue
        means = [statistics.mean(them) for them in (*it.given.values(), it.auto)]
        cells = [f"{it.servers}", *(f"{mean:.0f}" for mean in means), it.best]
        lines.append(
            f"| {' | '.join(cells)} | {it.behind:.0f} ± {it.interval:.0f} | {_verdict(it)} |"
        )
    return lines


def _verdict(point: Point) -> str:
    if point.is_close:
        return "holds"
    return "undecided" if point.is_undecided else "fails"


def _draw(path: Path, points: list[Point]) -> None:
    from matplotlib import pyplot as plt

    drawing, grid = plt.subplots(2, 2, figsize=(9, 7.6), layout="constrained", sharey=True)
    for ax, reading in zip(grid.flat, READINGS, strict=True):
        _curves(ax, reading, [it for it in points if it.reading == reading])
    for row, readings in zip(grid, (COPIES, SEGMENTS), strict=True):
        handles, labels = row[0].get_legend_handles_labels()
        row[1].legend(
            handles, labels, frameon=False, fontsize=8, title=readings[0].keys,
            loc="center left", bbox_to_anchor=(1, 0.5),
        )  # fmt: skip
    drawing.savefig(path, dpi=90)
    plt.close(drawing)


def _curves(ax: Axes, reading: Reading, mine: list[Point]) -> None:
    from matplotlib import colormaps

    servers = [it.servers for it in mine]
    for index, label in enumerate(reading.given):
        means = [statistics.mean(it.given[label]) for it in mine]
        shade, line = index / len(reading.given), "-"
        if reading in SEGMENTS:  # a shade per size, a line per window
            size, window = divmod(index, len(CWND_DSR))
            shade, line = size / len(MSS_DSR), (":", "--", "-")[window]
        colour = colormaps["viridis"](shade)
        ax.plot(servers, means, ls=line, marker="o", color=colour, ms=3, lw=1, label=label)
    means = [statistics.mean(it.auto) for it in mine]
    ax.plot(servers, means, "x-", color="black", ms=6, lw=1.6, label="auto")
    ax.set(title=reading.name, xlabel="servers", ylabel="goodput, Mbit/s", xscale="log")
    ax.set(yscale="log", ylim=(3, 1100))
    ax.set_yticks([3, 10, 30, 100, 300, 1000], ["3", "10", "30", "100", "300", "1000"])
    ax.set_xticks(servers, [str(n) for n in servers])
    ax.minorticks_off()
    ax.grid(alpha=0.3)
