"""The simulated part of the corpus."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import incast
from incast import _core
from validation.captures import truth
from validation.captures.foreign import files
from validation.captures.foreign.witness import Witnesses
from validation.captures.frames import lose, without_identifications

if TYPE_CHECKING:
    from pathlib import Path

    from validation.captures.scenarios import Case, View


def make(case: Case, directory: Path) -> list[Path]:
    """Write the captures of a case, and the truth of each; return the captures' files."""
    point = incast.load(case.document).plan.points[0]
    pairs = _core.pairs(point.scenario)
    return [
        _capture(case, view, point.scenario, pairs, directory / f"{case.name}-{number}.pcapng")
        for number, view in enumerate(case.views)
    ]


def _capture(
    case: Case,
    view: View,
    scenario: _core.Scenario,
    pairs: list[tuple[int, int]],
    path: Path,
) -> Path:
    wanted = _core.Capture(path, view.at, view.snaplen, offload=view.offload)
    events: dict[str, Any] = _core.run(scenario, view.seed, ["events"], capture=wanted)["events"]
    told = truth.of(case, view, path, events, pairs)
    lost = lose(path, case.lost, path.name) if case.lost else 0
    if not view.numbered:
        without_identifications(path)
    _doubt(told, path, counted=view.numbered)
    head = {
        "file": path.name,
        "scenario": case.name,
        "source": "simulator",
        "seed": view.seed,
        "snaplen": view.snaplen,
        "offload": view.offload,
        "numbered": view.numbered,
        "lost_by_capture": lost,
    }
    tree = head | told | {"document": case.document}
    path.with_suffix(".json").write_text(json.dumps(tree, indent=1) + "\n", encoding="utf-8")
    return path


def _doubt(told: dict[str, Any], path: Path, *, counted: bool) -> None:
    """Mark each stall and each episode as doubtful if nothing in the file shows its losses."""
    witnesses = Witnesses(files.read(path), counted=counted, complete=True)
    for stall in told["stalls"]:
        stall["in_doubt"] |= not witnesses.of_stall(stall)
    for one in told["episodes"]:
        shown = [witnesses.of(host, one["start"], one["end"]) for host in one["stalled"]]
        one["in_doubt"] = not any(shown)
