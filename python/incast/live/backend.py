"""Real hosts as a backend, whose rows have the same form as the simulator's."""

import json
import platform
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from incast import _core
from incast._core import Switch
from incast.errors import LiveError
from incast.live import counters
from incast.live.kernel_switch import KernelSwitch, Switches
from incast.live.namespaces import inside
from incast.live.stack import Stack
from incast.live.star import Ends, Star
from incast.live.traffic import Client, Reader, Summary
from incast.live.trust import Clock, doubts
from incast.scenario.plan import Point
from incast.scenario.resolved import Resolved
from incast.sweep.backend import Spill
from incast.sweep.capture import Capture

_QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
_SETTLED = 0.02  # seconds to wait for the last ACKs and FINs


class Progress:
    """A handle on a run of real hosts."""

    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        """End the run soon."""
        self.cancelled = True

    @property
    def progress(self) -> float:
        """Always 0, because the progress of real hosts is unknown."""
        return 0.0


class Kernel:
    """The kernel of this machine, with hosts in namespaces. Only one run is possible at a time.

    Parameters
    ----------
    switch
        The switch that moves the frames between the hosts.
    capture
        The capture to write, if any; only the simulated switch can write one.
    """

    def __init__(
        self, switch: Switches = Switches.SIMULATED, capture: Capture | None = None
    ) -> None:
        self.switch = switch
        self.capture = capture
        self._star: tuple[Any, Star] | None = None

    @property
    def version(self) -> str:
        """The kernel's release, and the version of the switch."""
        return f"{_core.version()} live {platform.release()} {self.switch}"

    def control(self) -> Progress:
        """Return a handle for the next run."""
        return Progress()

    def run(
        self,
        point: Point,
        seed: int,
        traces: Sequence[str],
        control: Progress,
        spill: Spill,  # noqa: ARG002 (for traces)
    ) -> dict[str, Any]:
        """Run a point on real hosts.

        Raises
        ------
        LiveError
            Traces were asked for, or the kernel refused a setting.
        KeyboardInterrupt
            The run was cancelled.
        """
        if traces:
            raise LiveError("traces: the kernel records none")
        if self.capture is None:
            return self._run(point, seed, control, None)
        with self.capture.written() as capture:
            return self._run(point, seed, control, capture)

    def _run(
        self, point: Point, seed: int, control: Progress, capture: _core.Capture | None
    ) -> dict[str, Any]:
        start = time.monotonic()
        here = point.here
        pairs = _core.pairs(point.scenario)
        star = self.star_for(here, pairs)
        hosts = star.hosts
        client = self.client_for(here, star, pairs, seed, lambda: control.cancelled)
        before = counters.count(hosts[1:]), counters.count(hosts[:1])
        with inside(star.switch):
            switch = (
                KernelSwitch(here, star.hosts)
                if self.switch is Switches.KERNEL
                else Switch(point.scenario, seed, star.interfaces, capture)
            )
        clock = Clock.now()
        try:
            summary = client.run(here.time_limit)
            time.sleep(_SETTLED)
        finally:
            shares = Clock.now().since(clock)
            measured = switch.stop()
        if control.cancelled:
            raise KeyboardInterrupt
        after = counters.count(hosts[1:]), counters.count(hosts[:1])
        counted = [now - then for now, then in zip(after, before, strict=True)]
        row = _row(seed, summary, client, counted[0], counted[1])
        row |= {name: measured.get(name) for name in _OF_SWITCH}
        row |= {
            "status": _status(summary, doubts(measured, shares)),
            "wall_s": time.monotonic() - start,
            "live.late_max_s": measured["late_max_s"],
            "live.late_p99_s": measured["late_p99_s"],
            "live.busy": max(measured["busy"] or 0.0, shares.busy),
            "live.waiting": shares.waiting,
            "live.rto_s": min((one.rto for one in client.connections), default=None),
        }
        return {"rows": [row]}

    def client_for(
        self,
        here: Resolved,
        star: Star,
        pairs: Sequence[tuple[int, int]],
        seed: int,
        cancelled: Callable[[], bool],
    ) -> Reader:
        """Return the application that runs on the client."""
        return Client(here, star.hosts, pairs, star.stack, seed, cancelled)

    def star_for(self, here: Resolved, pairs: Sequence[tuple[int, int]]) -> Star:
        """Return the star of the last run if this run can use it, or else a new star."""
        servers = sorted({server for server, _ in pairs})
        key = (Stack.of(here), tuple(servers))
        if self._star is None or self._star[0] != key:
            self.close()
            star = Star(1 + len(servers), key[0], Ends(0, servers))
            self._star = (key, star)
        return self._star[1]

    def close(self) -> None:
        """Remove the hosts."""
        if self._star is not None:
            self._star[1].close()
            self._star = None


_OF_SWITCH = (
    *("drops", "drop_ratio", "marks", "queue_max_packets", "queue_max_bytes"),
    *("queue_mean_bytes", "link_utilization", "packet_hops"),
)


def _status(summary: Summary, why: Sequence[str]) -> str:
    if not summary.finished:
        return "time-limit"
    return "untrusted" if why else "ok"


def _row(
    seed: int,
    summary: Summary,
    client: Reader,
    servers: Counter[str],
    readers: Counter[str],
) -> dict[str, Any]:
    """Return a row with the columns that hosts can measure; the other columns are empty."""
    names = [column["name"] for column in json.loads(_core.columns("rows"))]
    row: dict[str, Any] = {name: None for name in names if "." not in name}
    blocks = summary.completions
    # The client sends only handshakes and requests; its timeouts count as timeouts of handshakes.
    handshakes = readers["TCPTimeouts"] + servers["TCPSynRetrans"]
    row |= {
        "seed": seed,
        "group": "all",
        "goodput_bps": summary.bytes * 8 / summary.elapsed if summary.elapsed else 0.0,
        "blocks": len(blocks),
        "completions_s": blocks,
        "bytes": summary.bytes,
        "fairness": summary.fairness,
        "elapsed_s": summary.elapsed,
        "timeouts": servers["TCPTimeouts"] + handshakes,
        "timeouts_handshake": handshakes,
        "stalls": len(summary.stalls),
        "stall_max_s": max(summary.stalls, default=None),
        "tail_probes": servers["TCPLossProbes"],
        "fast_retransmits": servers["TCPSackRecovery"] + servers["TCPRenoRecovery"],
        "retransmitted_packets": servers["RetransSegs"],
        "packets_sent": sum(one.segments for one in client.connections),
    }
    if blocks:
        ordered = np.sort(blocks)
        row |= {"completion_s": float(ordered.mean()), "completion_max_s": float(ordered[-1])}
        for name, share in _QUANTILES.items():
            at = min(int(len(blocks) * share), len(blocks) - 1)
            row[f"completion_{name}_s"] = float(ordered[at])
    return row
