"""The validation page: verdicts, tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.common import page
from validation.common.judge import curves

if TYPE_CHECKING:
    from pathlib import Path

    from validation.common.judge import Verdict
    from validation.ns2.compare import Outcome

OPENING = """# Comparison with ns-2

Written by `make validate`; do not edit. Every run of the reference data
(`validation/reference/ns2`) is repeated in this simulator with `profile = "ns2"`, the same servers,
buffer, SRU, timers and simulated time, but with other random numbers. In the table of bars, single
letters name the sets of runs below. The words `star` to `bic` name the sets of the last section, in
the same order. [](../reference/ns2.md) explains the differences and their causes.
"""


def write(folder: Path, outcomes: list[Outcome], verdicts: list[Verdict], kept: list[str]) -> None:
    """Write `ns2.md` and its pictures into the folder; `kept` is the last part of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in "abpvd":
        _draw(folder / f"ns2-{name}.png", [it for it in outcomes if it.point.set == name])
    lines = [OPENING, *page.verdicts(verdicts)]
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
    lines += ["", "## Set e: a single block on new connections", "", *_table(shots), *kept]
    (folder / "ns2.md").write_text("\n".join(lines) + "\n")


def _table(outcomes: list[Outcome]) -> list[str]:
    quantities = ("goodput, Mbps", "timeouts per block", "median block time, ms")
    rows = (
        (
            it.point.cfg,
            it.point.servers,
            *(f"{value:.1f}" for value in it.goodput),
            *(f"{value:.2f}" for value in (*it.timeouts, *it.p50)),
        )
        for it in outcomes
    )
    return page.table("configuration", quantities, "ns-2", rows)


def _draw(path: Path, outcomes: list[Outcome]) -> None:
    grouped = {
        cfg: [(it.point.servers, *it.goodput, False) for it in curve]
        for cfg, curve in curves(outcomes).items()
    }
    page.figure(path, grouped, "ns-2", min(3, len(grouped)))
