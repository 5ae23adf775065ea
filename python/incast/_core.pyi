"""The simulator, compiled from Rust: one call per run, arrays back."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Control",
    "ScenarioError",
    "columns",
    "entries",
    "follow_reads",
    "plan",
    "run",
    "schema",
    "trunks",
    "version",
]

class ScenarioError(ValueError):
    """A mistake in a scenario; the message is `key: what is wrong and what is accepted`."""

@final
class Control:
    """A handle on a run under way in another thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """End the run soon: it then raises `KeyboardInterrupt`."""
    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1."""

def version() -> str:
    """Return the version of the engine and a hash of its sources, part of every result's key."""

def plan(document_json: str) -> tuple[list[str], list[str], list[int]]:
    """Validate a scenario and lay out its sweep; Ctrl-C ends it.

    Returns tables, points and seeds. A point is the JSON text of
    `{"swept": {...}, "resolved": {...}}`; in place of each value of its resolved scenario stands
    the index of its JSON text among the tables, because most points share most of them.
    """

def trunks(resolved_json: str) -> int:
    """Return how many links between switches the longest of the workload's ways has."""

def schema() -> str:
    """Return the JSON Schema of a scenario."""

def entries(kind: str) -> str:
    """Return the registry `kind` as JSON text: a list of `{"name", "summary", "parameters"}`."""

def columns(table: str) -> str:
    """Return the columns of a result table as JSON: a list of `{"name", "unit", "description"}`."""

def run(
    resolved_json: str, seed: int, trace_json: str = "[]", control: Control | None = None
) -> dict[str, Any]:
    """Simulate one resolved scenario at one seed, without the interpreter's lock.

    Returns `rows` (one dictionary per group) and the traces asked for (`events`, `queues`,
    `flows`: a dictionary of columns, or None).
    """

def follow_reads(
    reads: object,
    bounds: tuple[NDArray[np.float64], float, float, float],
    effort: object,
    threads: int,
) -> list[NDArray[np.float64]]:
    """Follow the mean block of synchronised reads, without the interpreter's lock.

    Takes `incast.models.collapse.reads.Reads` and `incast.models.collapse.blocks.Effort`, by their
    attributes; `bounds` are the packet times of a block without losses, and the three numbers of
    `incast.collapse`. Returns timeouts per block, those of handshakes, packet times per block, the
    relative standard deviation of a run's goodput, the relative standard error of the packet times,
    and 1 where a read loses what it is not known how to repair (the others are then 0); `threads`
    does not change them.
    """
