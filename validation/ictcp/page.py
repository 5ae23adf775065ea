"""The page and the picture of the study of ICTCP's headline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.common.page import verdicts
from validation.ictcp.runs import BLOCKS, BUFFERS, LABELS, MOST, SEEDS, STAR

if TYPE_CHECKING:
    from pathlib import Path

    from validation.common.judge import Verdict
    from validation.ictcp.runs import Curve

OPENING = f"""# ICTCP's own result

Written by `make validate` (`validation/ictcp`); do not edit. ICTCP's own experiments reportedly
show no collapse up to about {MOST} servers on a switch with 48 ports; other papers report a
collapse at a third of this number. Which initial window, which quota and which buffer reproduce
ICTCP's result? [How we read ICTCP](reading-ictcp.md) asked these questions before the runs.

The network is a star at 1 Gbps with 25 us per link. Each server sends {STAR["workload"]["sru"]} in
packets of 1500 bytes, over a new connection for every block and with a minimum timeout of 300 ms.
Senders have an initial window of three segments and send up to 8 us late, as hosts do. Each point
has {SEEDS} seeds of {BLOCKS} blocks. “ICTCP” starts with the sender's initial window, which is the
default; “two segments” starts with a window of two segments. With “each its quota”, every
connection has its own quota.
"""


def write(folder: Path, found: list[Curve], bars: list[Verdict]) -> None:
    """Write `ictcp.md` and its picture into the folder."""
    _draw(folder / "ictcp.png", found)
    lines = [OPENING, *verdicts(bars), "", "![Goodput over servers](ictcp.png)", ""]
    lines += ["Tables give the goodput in Mbps and, if there are any, the timeouts per block.", ""]
    for buffer in BUFFERS:
        lines += [f"## {buffer}", "", *_table([it for it in found if it.buffer == buffer]), ""]
    (folder / "ictcp.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _table(curves: list[Curve]) -> list[str]:
    lines = [f"| servers | {' | '.join(it.label for it in curves)} |", "|--:" * 5 + "|"]
    for index, servers in enumerate(curves[0].servers):
        cells = [_cell(it.goodput[index], it.timeouts[index]) for it in curves]
        lines.append(f"| {servers} | {' | '.join(cells)} |")
    return lines


def _cell(goodput: float, timeouts: float) -> str:
    return f"{goodput:.0f}" + (f", {timeouts:.2f}" if timeouts else "")


def _draw(path: Path, found: list[Curve]) -> None:
    from matplotlib import pyplot as plt

    drawing, panels = plt.subplots(
        1, len(BUFFERS), figsize=(10, 3.4), layout="constrained", sharey=True
    )
    looks = dict(zip(LABELS, ("o-", "s-", "^--", "x:"), strict=True))
    for axes, buffer in zip(panels, BUFFERS, strict=True):
        for curve in found:
            if curve.buffer == buffer:
                axes.plot(
                    curve.servers, curve.goodput, looks[curve.label], ms=4, mfc="none",
                    label=curve.label,
                )  # fmt: skip
        axes.set(title=f"buffer {buffer}", xlabel="servers", ylim=(0, 1000))
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("goodput, Mbit/s")
    panels[-1].legend(frameon=False, fontsize=8, loc="lower right")
    drawing.savefig(path, dpi=90)
    plt.close(drawing)
