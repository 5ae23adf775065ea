"""Verdicts, page and picture of the remedies' `auto`."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from .auto import GIVEN, READINGS, SEEDS, TOLERANCE, seconds
from .judge import Verdict
from .page import verdicts

if TYPE_CHECKING:
    from pathlib import Path

    from .auto import Point

OPENING = f"""# `p = "auto"`

Written by `make validate` (`benches/validate_auto.py`); do not edit. The rule by which
[`prob-rtx`](../reference/remedies.md) chooses its probability beside given ones, on the star of
Kulkarni and Agrawal: 1 Gbps, 50 us per link, 32 packets, 256 KiB per server, RTOmin 200 ms. Seeds
{SEEDS[0]} to {SEEDS[-1]}, {seconds(2)} s of simulated time, {seconds(48)} s with 48 servers, whose
lost SYNs cost the first 3 s. The rule was chosen on seeds 1 to 5, and 1 s.

Auto has to be at most {TOLERANCE:.0%} behind the best given p, or the 95 % interval of the paired
differences (Student's t, seed by seed) has to reach zero. The best of seven means is chosen after
the runs, which favours it. Where the interval is wide, “undecided” says little.
"""

TABLE = """
Goodput in Mbps. “behind” is the best given p less auto, with its interval.
"""


def judge(points: list[Point]) -> list[Verdict]:
    """Hold every reading against the bar."""
    found = []
    for reading in READINGS:
        mine = [it for it in points if it.reading == reading]
        misses = [it for it in mine if not (it.is_close or it.is_undecided)]
        close = sum(it.is_close for it in mine)
        found.append(
            Verdict(
                f"{reading}: at most {TOLERANCE:.0%} behind the best given p, or undecided",
                f"{len(mine) - len(misses)} of {len(mine)} points, {close} of them within "
                f"{TOLERANCE:.0%}; worst {max(it.share for it in mine):.1%}",
                tuple(f"{it.servers} servers: {it.share:.1%} behind {it.best:g}" for it in misses),
                not misses,
            )
        )
    return found


def write(folder: Path, points: list[Point], found: list[Verdict]) -> None:
    """Write `auto.md` and its picture into the folder."""
    _draw(folder / "auto.png", points)
    lines = [OPENING, *verdicts(found), "", "![Goodput over p](auto.png)", TABLE]
    for reading in READINGS:
        lines += [f"## {reading.capitalize()}", "", *_table(points, reading), ""]
    (folder / "auto.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _table(points: list[Point], reading: str) -> list[str]:
    heads = ["N", *(f"{p:g}" for p in GIVEN), "auto", "best p", "behind"]
    lines = [f"| {' | '.join(heads)} | |", "|" + "--:|" * len(heads) + "---|"]
    for it in points:
        if it.reading != reading:
            continue
        means = [statistics.mean(them) for them in (*(it.given[p] for p in GIVEN), it.auto)]
        cells = [f"{it.servers}", *(f"{mean:.0f}" for mean in means), f"{it.best:g}"]
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

    drawing, axes = plt.subplots(
        1, len(READINGS), figsize=(9, 3.6), layout="constrained", squeeze=False
    )
    for ax, reading in zip(axes.flat, READINGS, strict=True):
        mine = [it for it in points if it.reading == reading]
        servers = [it.servers for it in mine]
        for index, p in enumerate(GIVEN):
            means = [statistics.mean(it.given[p]) for it in mine]
            shade = plt.get_cmap("viridis")(index / len(GIVEN))
            ax.plot(servers, means, "o-", color=shade, ms=3, lw=1, label=f"{p:g}")
        means = [statistics.mean(it.auto) for it in mine]
        ax.plot(servers, means, "x--", color="black", ms=6, label="auto")
        ax.set(title=reading, xlabel="servers", ylabel="goodput, Mbit/s", xscale="log")
        ax.set(yscale="log", ylim=(3, 1100))
        ax.set_yticks([3, 10, 30, 100, 300, 1000], ["3", "10", "30", "100", "300", "1000"])
        ax.set_xticks(servers, [str(n) for n in servers])
        ax.minorticks_off()
        ax.grid(alpha=0.3)
    axes.flat[0].legend(frameon=False, fontsize=8, title="p", ncols=2)
    drawing.savefig(path, dpi=90)
    plt.close(drawing)
