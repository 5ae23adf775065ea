"""The validation page: verdicts, tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib

from .judge import curves

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from .compare import Outcome
    from .judge import Verdict

matplotlib.use("Agg")

OPENING = """# Against ns-2

Written by `make validate`; do not edit. Every run of the reference data (`benches/reference/ns2`)
is repeated with `profile = "ns2"`, the same servers, buffer, SRU, timers and simulated time, and
our own random numbers. What differs and why is explained in [](../reference/ns2.md).
"""


def write(folder: Path, outcomes: list[Outcome], verdicts: list[Verdict]) -> None:
    """Write `ns2.md` and its pictures into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in "abpvd":
        _draw(folder / f"ns2-{name}.png", [it for it in outcomes if it.point.set == name])
    lines = [OPENING, "| bar | measured | |", "|---|---|---|"]
    lines += [f"| {it.bar} | {it.measured} | {_word(it)} |" for it in verdicts]
    for verdict in verdicts:
        if verdict.misses:
            lines += ["", f"Misses of “{verdict.bar}”:", ""]
            lines += [f"- {miss}" for miss in verdict.misses]
    for name, title in [
        ("v", "Buffer 32 KB, SRU 256 KB, send delay 8 µs"),
        ("p", "Buffers and SRUs, send delay 8 µs"),
        ("a", "Buffers, no send delay (phase effects)"),
        ("b", "SRUs, no send delay (phase effects)"),
        ("d", "RTOmin 200 µs"),
    ]:
        points = [it for it in outcomes if it.point.set == name]
        lines += ["", f"## Set {name}: {title}", "", f"![Set {name}](ns2-{name}.png)", ""]
        lines += _table(points)
    shots = [it for it in outcomes if it.point.set == "e"]
    lines += ["", "## Set e: one shot on fresh connections", "", *_table(shots)]
    (folder / "ns2.md").write_text("\n".join(lines) + "\n")


def _word(verdict: Verdict) -> str:
    return "holds" if verdict.holds else "fails"


def _table(outcomes: list[Outcome]) -> list[str]:
    quantities = ("goodput, Mbps", "timeouts per block", "median block time, ms")
    header = " | ".join(f"{quantity}: ns-2 | here" for quantity in quantities)
    lines = [f"| configuration | N | {header} |", "|---" + "|--:" * 7 + "|"]
    return lines + [
        f"| {it.point.cfg} | {it.point.servers} | {it.goodput[0]:.1f} | {it.goodput[1]:.1f} "
        f"| {it.timeouts[0]:.2f} | {it.timeouts[1]:.2f} | {it.p50[0]:.2f} | {it.p50[1]:.2f} |"
        for it in outcomes
    ]


def _draw(path: Path, outcomes: list[Outcome]) -> None:
    from matplotlib import pyplot as plt

    grouped = curves(outcomes)
    columns = min(3, len(grouped))
    rows = -(-len(grouped) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.3 * columns, 2.6 * rows), squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(grouped) :]:
        ax.set_axis_off()
    for ax, (cfg, curve) in zip(axes.flat, grouped.items(), strict=False):
        _curve(ax, cfg, curve)
    axes.flat[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _curve(ax: Axes, cfg: str, curve: list[Outcome]) -> None:
    servers = [it.point.servers for it in curve]
    ax.plot(servers, [it.goodput[0] for it in curve], "o-", color="0.6", label="ns-2", ms=4)
    ax.plot(servers, [it.goodput[1] for it in curve], "x--", color="#0072b2", label="incast", ms=5)
    ax.set(title=cfg, xlabel="servers", ylabel="goodput, Mbit/s", xscale="log", yscale="log")
    ticks = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= servers[-1]]
    ax.set_xticks(ticks, [str(n) for n in ticks])
    ax.minorticks_off()
    ax.title.set_size(9)
    ax.grid(alpha=0.3)
