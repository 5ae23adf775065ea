"""Backends of a sweep: the simulator, or another source of the same rows."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from incast import _core
from incast.scenario.plan import Point

Spill = Callable[[str, dict[str, Any]], None]  # takes a table's name, and a part of its columns


class Control(Protocol):
    """A handle on a run under way in another thread."""

    def cancel(self) -> None:
        """End the run soon."""

    @property
    def progress(self) -> float:
        """The share of the run that is done, from 0 to 1."""


class Backend(Protocol):
    """Runs points of a plan, at any seed; several threads may call it at the same time.

    The `version` of a backend is part of the key under which a run is stored. Backends whose
    results may differ must have different versions.
    """

    @property
    def version(self) -> str:
        """The backend's name and version."""

    def control(self) -> Control:
        """Return a handle for the next run."""

    def run(
        self,
        point: Point,
        seed: int,
        traces: Sequence[str],
        control: Any,  # noqa: ANN401 (its own)
        spill: Spill,
    ) -> dict[str, Any]:
        """Return the tables of a run: `rows`, with one row per group, and the requested traces.

        During the run, the first rows of a long trace may be passed to `spill`.
        """


class Simulator:
    """The packet-level engine."""

    @property
    def version(self) -> str:
        """The engine's version, with a hash of its sources."""
        return _core.version()

    def control(self) -> _core.Control:
        """Return a handle for the next run."""
        return _core.Control()

    def run(
        self,
        point: Point,
        seed: int,
        traces: Sequence[str],
        control: _core.Control,
        spill: Spill,
    ) -> dict[str, Any]:
        """Simulate a point at one seed; the interpreter's lock is released meanwhile."""
        return _core.run(point.scenario, seed, traces, control, spill)


SIMULATOR = Simulator()
