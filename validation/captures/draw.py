"""A picture of a capture's stalls: the reported and the true stalls of each flow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from incast.diagnose import diagnose
from incast.plots import style

if TYPE_CHECKING:
    from pathlib import Path

_LANES = 24  # maximum number of flows in a picture; those with the most stalls are shown
_NAMES = (
    "handshake", "full_window", "tail", "lack_of_dupacks", "lost_retransmission", "ack_loss",
    "spurious", "cannot tell",
)  # fmt: skip


def draw(capture: Path, picture: Path) -> None:
    """Draw the reported and the true stalls of a capture."""
    truth = json.loads(capture.with_suffix(".json").read_text(encoding="utf-8"))
    report = diagnose([capture])
    told, true = _told(report), _true(truth)
    lanes = sorted({*told, *true}, key=lambda one: -len(true.get(one, [])))[:_LANES]
    figure, (axes,) = style.sheet("", "", size=(7.6, 1.6 + 0.22 * len(lanes)))
    used = set()
    for row, server in enumerate(lanes):
        for start, length, cause in told.get(server, []):
            axes.barh(row - 0.18, length, 0.34, start, color=_colour(cause), lw=0)
            used.add(cause)
        for start, length, cause in true.get(server, []):
            axes.barh(row + 0.18, length, 0.3, start, color="none", edgecolor=_colour(cause), lw=1)
            used.add(cause)
    for cause in (name for name in _NAMES if name in used):
        axes.barh(0, 0, color=_colour(cause), label=cause)
    axes.set_yticks(range(len(lanes)), lanes, fontsize=6)
    axes.set_xlabel(f"time in {capture.name} [s]")
    figure.legend(loc="outside lower center", ncols=4, fontsize=7)
    figure.savefig(picture, dpi=110)


def _colour(cause: str) -> str:
    return "0.6" if cause == _NAMES[-1] else style.COLOURS[_NAMES.index(cause)]


def _told(report: dict[str, Any]) -> dict[str, list[tuple[float, float, str]]]:
    found: dict[str, list[tuple[float, float, str]]] = {}
    for one in report["stalls"]:
        ends = [end.rpartition(":") for end in one["flow"].split(" > ")]
        server = min(ends, key=lambda end: int(end[2]))[0]
        start = one["start_s"] + report["began_s"]
        found.setdefault(server, []).append(
            (start, one["duration_s"], one["cause"] or "cannot tell")
        )
    return found


def _true(truth: dict[str, Any]) -> dict[str, list[tuple[float, float, str]]]:
    found: dict[str, list[tuple[float, float, str]]] = {}
    for one in truth["stalls"]:
        if one["visible"]:
            start = one["expired"] - one["rto"]
            found.setdefault(one["server"], []).append((start, one["rto"], one["cause"]))
    return found
