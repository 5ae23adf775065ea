"""The tables and the picture of the page on the client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import matplotlib

from incast.client import SLOTS, WINDOW
from validation.client.judge import ALL, CLIENT, IDEAL
from validation.client.measure import AUTO, PLAIN

if TYPE_CHECKING:
    from pathlib import Path

    from validation.client.judge import Reads, Star, Study

matplotlib.use("Agg")

PAGE, PICTURE = "how-to/stop-incast.md", "_static/stop-incast.png"
PART = re.compile(r"(<!-- measured: (\w+) -->\n)(.*?)(<!-- end of it -->)", re.DOTALL)


def write(folder: Path, study: Study) -> None:
    """Replace the measured parts of the page, and its picture."""
    parts = {"servers": _servers(study), "plans": _plans(study.grid), "free": _free(study.free)}
    page = folder / PAGE
    text = page.read_text("utf-8")
    page.write_text(
        PART.sub(lambda it: "\n".join([it[1], *parts[it[2]], "", it[4]]), text), "utf-8"
    )
    _draw(folder / PICTURE, study)


def _servers(study: Study) -> list[str]:
    stained = "reads with timeouts"
    lines = [f"| Servers | plain | timeouts per read | given | {stained} | auto | {stained} |"]
    lines.append("| --: " * 7 + "|")
    for servers, star in study.stars.items():
        plain = star[PLAIN]
        cells = [f"{servers}", f"{plain.goodput:.1f}"]
        cells.append(f"{sum(plain.timeouts) / len(plain.timeouts):.1f}")
        for it in (star[CLIENT], star[AUTO]):
            cells += [f"{it.goodput:.1f}", _stained(it)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _plans(grid: Star) -> list[str]:
    lines = ["| Answers | Window, bytes | Sum, bytes | Mbps | reads with timeouts |"]
    lines.append("| --: | --: | --: | --: | --: |")
    for it in sorted(grid.values(), key=lambda it: -it.goodput):
        slots, window = it.plan or (0, 0)
        name = f"auto: {slots}" if it.name == AUTO else f"{slots}"
        cells = (name, f"{window}", f"{slots * window}", f"{it.goodput:.1f}", _stained(it))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _free(free: Star) -> list[str]:
    titles = {PLAIN: "plain", ALL: f"given: 16 answers, windows of {2 * WINDOW} bytes"}
    lines = ["| Client | Mbps | of plain |", "| :-- | --: | --: |"]
    for it in free.values():
        slots, window = it.plan or (0, 0)
        title = titles.get(it.name, f"auto, at {slots} answers with windows of {window} bytes")
        share = it.goodput / free[PLAIN].goodput
        lines.append(f"| {title} | {it.goodput:.1f} | {share:.1%} |")
    return lines


def _stained(it: Reads) -> str:
    return f"{sum(count > 0 for count in it.timeouts)} of {len(it.timeouts)}"


def _draw(file: Path, study: Study) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    servers = list(study.stars)
    titles = {
        PLAIN: "all servers at once",
        CLIENT: f"{SLOTS} answers, windows of {WINDOW} bytes",
        AUTO: "auto",
    }
    for (name, title), marker in zip(titles.items(), "os^", strict=True):
        reads = [star[name] for star in study.stars.values()]
        goodput = [it.goodput for it in reads]
        low, high = zip(*(it.range for it in reads), strict=True)
        axes.plot(servers, goodput, marker=marker, label=title)
        axes.fill_between(servers, low, high, alpha=0.15)
    axes.axhline(IDEAL, color="0.6", linewidth=0.8, linestyle="--")
    axes.set(xscale="log", ylim=(0, 105), xlabel="servers", ylabel="goodput of the read, Mbit/s")
    axes.set_xticks(servers, [str(it) for it in servers])
    axes.minorticks_off()
    axes.legend(loc="lower left", frameon=False)
    figure.savefig(file, dpi=120, metadata={"Software": None})
    pyplot.close(figure)
