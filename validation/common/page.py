"""Parts that the validation pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from validation.common.judge import Verdict

matplotlib.use("Agg")

Curve = list[tuple[int, float, float, bool]]
"""Per point: servers, goodput of the other simulator, goodput of incast, whether it is marked."""


def verdicts(found: Iterable[Verdict]) -> list[str]:
    """Return the table of bars, and the points that miss them."""
    found = list(found)
    lines = ["| bar | measured | |", "|---|---|---|"]
    for it in found:
        bar = it.bar.replace("|", "\\|")
        lines.append(f"| {bar} | {it.measured} | {'holds' if it.holds else 'fails'} |")
    for it in found:
        if it.misses:
            lines += ["", f"Misses of “{it.bar}”:", "", *(f"- {miss}" for miss in it.misses)]
    return lines


def table(
    first: str, quantities: Iterable[str], other: str, rows: Iterable[tuple[object, ...]]
) -> list[str]:
    """Return a table with the values of both simulators; rows may end with a remark."""
    rows = list(rows)
    heads = [first, "N", *(f"{it}: {other} | here" for it in quantities)]
    lines = [f"| {' | '.join(heads)} |"]
    numbers = lines[0].count("|") - 2
    has_remarks = bool(rows) and len(rows[0]) > 1 + numbers
    lines[0] += " |" * has_remarks
    lines.append("|---" + "|--:" * numbers + "|---" * has_remarks + "|")
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def figure(path: Path, curves: dict[str, Curve], other: str, columns: int) -> None:
    """Draw goodput as a function of the servers, with a panel per curve."""
    from matplotlib import pyplot as plt

    rows = -(-len(curves) // columns)
    drawing, axes = plt.subplots(
        rows, columns, figsize=(3.3 * columns, 2.4 * rows), squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(curves) :]:
        ax.set_axis_off()
    for ax, (name, curve) in zip(axes.flat, curves.items(), strict=False):
        servers = [it[0] for it in curve]
        # A logarithmic axis cannot show 0, so such points are left out.
        ax.plot(
            servers, [it[1] or float("nan") for it in curve], "o-", color="0.6", label=other, ms=4
        )
        ax.plot(servers, [it[2] for it in curve], "x--", color="#0072b2", label="incast", ms=5)
        flagged = [it for it in curve if it[3]]
        ax.plot(
            [it[0] for it in flagged],
            [it[1] or float("nan") for it in flagged],
            "o",
            color="0.6",
            mfc="white",
            ms=4,
            zorder=3,
        )
        ax.set(title=name, xlabel="servers", ylabel="goodput, Mbit/s", xscale="log", yscale="log")
        ax.set_ylim(3, 1300)
        ax.set_yticks([3, 10, 30, 100, 300, 1000], ["3", "10", "30", "100", "300", "1000"])
        ticks = [n for n in (1, 2, 4, 8, 16, 32, 64) if servers[0] <= n <= servers[-1]]
        ax.set_xticks(ticks, [str(n) for n in ticks])
        ax.minorticks_off()
        ax.title.set_size(9)
        ax.grid(alpha=0.3)
    axes.flat[0].legend(frameon=False, fontsize=8)
    drawing.savefig(path, dpi=90)
    plt.close(drawing)
