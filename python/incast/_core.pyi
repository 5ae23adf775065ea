"""The simulator, compiled from Rust: each run is one call, which returns arrays."""

import sys
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, TypedDict, final, type_check_only

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FIRST_PORT",
    "Capture",
    "Captures",
    "Control",
    "Namespace",
    "Scenario",
    "ScenarioError",
    "Switch",
    "columns",
    "document",
    "entries",
    "follow_reads",
    "hurry",
    "pairs",
    "plan",
    "run",
    "schema",
    "serialisation",
    "traces",
    "version",
]

class ScenarioError(ValueError):
    """A mistake in a scenario. The message has the key, the problem and the accepted values."""

@final
class Captures:
    """Capture files, which are opened by the first call that reads them, and can be read once.

    A call may wait for a pipe. Another thread can ask for the progress, and stop the call.

    Parameters
    ----------
    paths
        Files; `-` is standard input.
    """

    def __new__(cls, paths: Sequence[str | PathLike[str]]) -> Captures: ...
    def open(self) -> None:
        """Open the files, and read each up to its first packet.

        Raises
        ------
        ValueError
            A file cannot be read, or is no capture. The message has one line.
        """
    def stop(self) -> None:
        """End the reading soon, even if it waits for bytes; it returns what it has read."""
    @property
    def bytes_read(self) -> int:
        """The bytes of the files that have been read so far."""
    def diagnose(self, vantage: str | None, flows: int) -> str:
        """Read the packets without the interpreter's lock, and return the report as JSON.

        `vantage` is `client`, `server` or `switch`; if it is None, it is inferred. `flows` is the
        number of flows that make an episode.
        """
    def packets(self, from_ns: int, to_ns: int, most: int) -> dict[str, Any]:
        """Read the packets, and return the packets of a time span as columns.

        The span is in nanoseconds since 1970. At most `most` packets are returned. Ctrl-C raises
        `KeyboardInterrupt`.
        """

@final
class Control:
    """A handle of a run that is under way in another thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """End the run soon; the run then raises `KeyboardInterrupt`."""
    @property
    def progress(self) -> float:
        """The finished share of the run, from 0 to 1."""

@final
class Capture:
    """A capture to be made of a run, as a pcapng file.

    Parameters
    ----------
    path
        The file, which is created or replaced.
    at
        The vantage point: `client`, `client:N`, `switch` or `server:N`, counted from 0.
    snaplen
        Largest number of bytes that are kept of a frame.
    truth
        Whether drops and the causes of timeouts are written as comments of packets.
    offload
        Whether segments are merged, as by segmentation and receive offloads of a host.

    Raises
    ------
    ValueError
        `at` or `snaplen` is not valid.
    """

    def __new__(
        cls,
        path: str | PathLike[str],
        at: str = "client",
        snaplen: int = 96,
        truth: bool = False,
        offload: bool = False,
    ) -> Capture: ...
    def check(self, scenario: Scenario) -> None:
        """Raise `ValueError` if the scenario does not have the vantage point."""

@final
class Scenario:
    """One point of a plan, checked once and ready to run.

    Parameters
    ----------
    document_json
        A document without a sweep.
    """

    def __new__(cls, document_json: str) -> Scenario: ...
    def facts(self) -> Facts:
        """Return the numbers derived from the scenario, in base units."""

if sys.platform == "linux":
    FIRST_PORT: int
    """The TCP port of flow 0 at its server; flow f has the port `FIRST_PORT + f`."""

    @final
    class Namespace:
        """A new network namespace, which ends with this object and the sockets in it.

        Raises
        ------
        OSError
            This process may not make a namespace.
        """

        def __new__(cls) -> Namespace: ...
        @staticmethod
        def current() -> Namespace:
            """Return the namespace of the calling thread."""
        def enter(self) -> None:
            """Move the calling thread into this namespace, to which its new sockets will belong."""
        @property
        def descriptor(self) -> int:
            """The file descriptor of the namespace in this process."""

    @final
    class Switch:
        """A switch for real hosts, on a thread of its own, in the calling thread's namespace.

        Frames pass through the same ports and discipline as in a simulation of the scenario.

        Parameters
        ----------
        scenario, seed
            The scenario of the ports, and the seed of their random streams.
        interfaces
            The numbers of the interfaces to the hosts, the clients first.
        capture
            A capture that receives the frames, without comments.

        Raises
        ------
        OSError
            This process may not open the sockets, or the file.
        """

        def __new__(
            cls,
            scenario: Scenario,
            seed: int,
            interfaces: Sequence[int],
            capture: Capture | None = None,
        ) -> Switch: ...
        def stop(self) -> Measured:
            """Stop the switch, and return its measurements; a switch can be stopped once."""

    def hurry(wanted: bool) -> bool:
        """Let the calling thread run before ordinary threads, or end that; return whether it does.

        Without the right to a real-time priority, the thread's time slices become short.
        """
    def pairs(scenario: Scenario) -> list[tuple[int, int]]:
        """Return the hosts of every flow's sender and client; clients have the first numbers."""

@type_check_only
class Measured(TypedDict):
    """The measurements of a switch: the columns of rows that it fills, and its own state."""

    drops: int
    drop_ratio: float
    marks: int
    queue_max_packets: int
    queue_max_bytes: int
    queue_mean_bytes: float
    link_utilization: float
    packet_hops: int
    length_s: float
    frames: int
    foreign: int
    missed: int
    late_max_s: float
    late_p99_s: float
    busy: float
    real_time: bool

@type_check_only
class Facts(TypedDict):
    """Numbers derived from a scenario; `crates/scenario/src/facts.rs` describes each."""

    client_rate_bps: float
    server_rate_bps: float
    trunks: int
    propagation_s: float
    base_rtt_s: float
    bare_rtt_s: float
    packet_bytes: int
    payload_bytes: int
    wire_bytes: int
    buffer_counts_packets: bool
    buffer_limit: int
    buffer_bytes: int
    buffer_packets: int
    packet_space_bytes: int
    buffer_total: int | None
    buffer_total_counts_packets: bool
    buffer_alpha: float | None
    thresholds: list[str]
    threshold_lengths: list[float]
    servers: int
    flows: int
    clients: int
    groups: list[str]
    sru_bytes: int
    last_sru_bytes: int
    sru_segments: int
    last_segment_bytes: int
    family: str
    request_jitter_s: float
    start_spread_s: float
    request_spread_s: float
    interval_s: float
    duration_s: float | None
    time_limit_s: float
    background_rates_bps: list[float | None]
    background_space_bytes: list[int | None]
    initial_window_segments: int
    initial_ssthresh_segments: int
    receive_window_segments: int
    shakes: bool
    rto_min_s: float
    rto_max_s: float
    rto_initial_s: float
    rto_granularity_s: float
    syn_rto_s: float
    rto_after_syn_loss_s: float
    send_jitter_s: float
    delayed_ack_s: float

def version() -> str:
    """Return the version of the engine and a hash of its sources, for the keys of results."""

def document(toml: str) -> str:
    """Parse TOML, and return the document as JSON; dates are strings.

    Invalid TOML raises a `ScenarioError` with line and column.
    """

def plan(
    document_json: str,
) -> tuple[list[tuple[dict[str, Any], dict[str, Any], Scenario]], list[int]]:
    """Validate a scenario and lay out its sweep; Ctrl-C ends it.

    Returns points and seeds. A point consists of the swept values, the resolved scenario, and the
    scenario ready to run. Resolved scenarios share equal tables, because there are many.
    """

def schema() -> str:
    """Return the JSON Schema of a scenario."""

def entries(kind: str) -> str:
    """Return the registry `kind` as JSON: a list of `{"name", "summary", "parameters"}`."""

def columns(table: str) -> str:
    """Return the columns of a result table as JSON: a list of `{"name", "unit", "description"}`."""

def traces() -> str:
    """Return the kinds of traces as JSON: a list of `{"name", "table", "summary"}`."""

def run(
    scenario: Scenario,
    seed: int,
    traces: Sequence[str] = ...,
    control: Control | None = None,
    spill: Callable[[str, dict[str, Any]], None] | None = None,
    capture: Capture | None = None,
) -> dict[str, Any]:
    """Simulate a scenario at one seed, without the interpreter's lock.

    Returns a dictionary with `rows` (one dictionary per group) and, under the name of its table,
    each requested trace as a dictionary of columns. `spill` takes parts of long traces during the
    run. `capture` receives the packets; an error of its file ends the run.
    """

def follow_reads(
    reads: object,
    bounds: tuple[NDArray[np.float64], float, float, float],
    effort: object,
    threads: int,
) -> list[NDArray[np.float64]]:
    """Follow the mean block of synchronised reads, without the interpreter's lock.

    `reads` and `effort` have the attributes of `incast.models.collapse.reads.Reads` and
    `incast.models.collapse.blocks.Effort`. `bounds` are the packet times of a block without losses,
    and the three numbers of `incast.collapse`. Returns timeouts per block, timeouts of handshakes
    per block, packet times per block, the relative standard deviation of a run's goodput, and the
    relative standard error of the packet times. The results do not depend on `threads`.
    """

def serialisation(columns: Sequence[NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
    """Return equations (2) to (12) of connection serialisation, as a dictionary.

    Takes seven equally long columns: rate in bit/s, base round trip in seconds, MSS, header and SRU
    in bytes, servers, and background in bit/s.
    """
