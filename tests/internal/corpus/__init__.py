"""A corpus of scenarios with the hashes of their results; a change of the code must keep them.

`documents.jsonl.gz` contains the scenarios. Each scenario has a list of traces to record and a
place at which packets are captured. `hashes.txt` has one line per scenario, with the hashes of its
rows, its traces and its captures. `draw.py` draws the scenarios.
"""

import gzip
import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import incast
from incast import ScenarioError, _core

FOLDER = Path(__file__).parent
DOCUMENTS = FOLDER / "documents.jsonl.gz"
HASHES = FOLDER / "hashes.txt"
_DIGITS = 16
_SNAPLEN = 96
_FIRST_TABLES = {"events", "flows", "queues"}  # part of every hash, even if not recorded


@dataclass(frozen=True)
class Case:
    """A scenario of the corpus.

    Parameters
    ----------
    document
        The scenario as a user's document.
    traces
        The traces that are recorded.
    capture
        The place at which each run is captured, perhaps followed by `+truth` or `+offload`. If
        empty, nothing is captured.
    """

    document: dict[str, Any]
    traces: list[str]
    capture: str = ""


def cases() -> list[Case]:
    """Return the corpus."""
    lines = gzip.decompress(DOCUMENTS.read_bytes()).decode().splitlines()
    return [Case(**json.loads(line)) for line in lines]


def hashes() -> list[str]:
    """Return the stored hashes of every scenario."""
    return HASHES.read_text().splitlines()


def write_hashes(found: Sequence[str]) -> None:
    """Store the hashes of the scenarios' present results."""
    HASHES.write_text("".join(f"{line}\n" for line in found))


def outcome(case: Case) -> str:
    """Run a scenario at its first seed; return hashes of its rows, its traces and its captures.

    If the scenario is no longer valid, return the key that is refused.
    """
    rows, traces, captures = (hashlib.sha256() for _ in range(3))
    try:
        plan = incast.load(case.document).plan
    except ScenarioError as refused:
        return f"refused {str(refused).partition(':')[0]}"
    for point in plan.points:
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            capture = None
            if case.capture:
                at, *settings = case.capture.split("+")
                told = ("truth" in settings, "offload" in settings)
                capture = _core.Capture(file.name, at, _SNAPLEN, *told)
            found = _core.run(point.scenario, plan.seeds[0], case.traces, capture=capture)
            captures.update(Path(file.name).read_bytes())
        _add_rows(rows, found.pop("rows"))
        for name in sorted(_FIRST_TABLES | found.keys()):
            _add_trace(traces, name, found.get(name))
    parts = [(rows, True), (traces, case.traces), (captures, case.capture)]
    told = [found.hexdigest()[:_DIGITS] if is_asked else "-" for found, is_asked in parts]
    return " ".join(told if case.capture else told[:2])


def _add_rows(rows: Any, found: Sequence[Mapping[str, Any]]) -> None:  # noqa: ANN401 (a hash)
    for row in found:
        kept = {name: row[name] for name in row if name != "wall_s"}
        rows.update(json.dumps(kept, sort_keys=True, default=_listed).encode())


def _add_trace(traces: Any, name: str, found: Mapping[str, Any] | None) -> None:  # noqa: ANN401
    traces.update(name.encode())
    for column in sorted(found or {}):
        values = _listed((found or {})[column])
        traces.update(f"{column} {json.dumps(values)}".encode())


def _listed(values: Any) -> Any:  # noqa: ANN401 (an array, names with indices, or a list)
    if isinstance(values, tuple):
        names, codes = values
        return [names[code] for code in codes]
    return values.tolist() if hasattr(values, "tolist") else list(values)
