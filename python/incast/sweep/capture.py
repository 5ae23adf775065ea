"""A run whose packets are captured: one point, one seed, one file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import _core, units
from incast.errors import ResultsError
from incast.scenario import Scenario
from incast.scenario.plan import Plan, Point
from incast.sweep.backend import Simulator, Spill

SNAPLEN = 96  # bytes: Ethernet, IPv4, and TCP with all options


@dataclass(frozen=True)
class Capture:
    """The packets of a run that are written, and their file.

    Parameters
    ----------
    path
        The file (pcapng), which must not exist.
    at
        Where packets are captured: `client`, `client:N`, `switch` or `server:N`, with N from 0.
    snaplen
        Maximum number of bytes that are written of each frame.
    truth
        Whether to write drops and the causes of timeouts as comments of packets.
    offload
        Whether to merge segments, as a host's segmentation and receive offloads do.

    Raises
    ------
    ResultsError
        `at` or `snaplen` is not valid.
    """

    path: Path
    at: str = "client"
    snaplen: int = SNAPLEN
    truth: bool = False
    offload: bool = False

    def __post_init__(self) -> None:
        self.into(self.path)

    def into(self, path: Path) -> _core.Capture:
        """Return the core's capture with these settings and the file `path`."""
        try:
            return _core.Capture(path, self.at, self.snaplen, self.truth, self.offload)
        except ValueError as error:
            raise ResultsError(f"pcap: {error}") from None
        except OverflowError:  # below 0, or more than 64 bits
            raise ResultsError(
                f"pcap: snaplen {self.snaplen} must be a number from 54 to 262144"
            ) from None

    @contextmanager
    def written(self) -> Iterator[_core.Capture]:
        """Let a run write to a temporary file, which gets its name when the run is complete.

        Raises
        ------
        ResultsError
            The file cannot be written.
        """
        part = self.path.with_name(f"{self.path.name}.part")
        try:
            yield self.into(part)
            part.rename(self.path)
        except OSError as error:
            raise ResultsError(f"{self.path}: {error.strerror or error}") from None
        finally:
            part.unlink(missing_ok=True)

    def check(self, scenario: Scenario) -> None:
        """Refuse a scenario whose packets cannot be captured. Call this before the run.

        Raises
        ------
        ResultsError
            The scenario has more than one run, its network has no place `at`, or the file exists.
        """
        plan = scenario.plan
        if (runs := len(plan.points) * len(plan.seeds)) > 1 or plan.precision is not None:
            raise ResultsError(f"pcap: {_choice(plan, runs)}")
        try:
            self.into(self.path).check(plan.points[0].scenario)
        except ValueError as error:
            raise ResultsError(f"pcap: {error}") from None
        if self.path.exists():
            raise ResultsError(f"{self.path}: exists; remove it, or choose another name")
        if not self.path.parent.is_dir():
            raise ResultsError(f"{self.path}: there is no directory {self.path.parent}")


def _choice(plan: Plan, runs: int) -> str:
    """Return a message with the options that reduce the scenario to one run."""
    ways = [f"--set {key}=VALUE" for key in plan.swept]
    if len(plan.seeds) > 1 or plan.precision is not None:
        ways.append("--seeds 1")
    asked = units.plural(runs, "run")
    return f"a file holds one run, but the scenario has {asked}; add {' '.join(ways)}"


class Capturing(Simulator):
    """The packet-level engine, which writes the packets of its run."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture

    def run(
        self,
        point: Point,
        seed: int,
        traces: Sequence[str],
        control: _core.Control,
        spill: Spill,
    ) -> dict[str, Any]:
        """Simulate a point at one seed, and write its packets."""
        with self.capture.written() as capture:
            return _core.run(point.scenario, seed, traces, control, spill, capture)
