"""The truth of a simulated capture: episodes and stalls, from the events of the run."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import incast
from validation.captures.frames import Frame, read

if TYPE_CHECKING:
    from pathlib import Path

    from validation.captures.scenarios import Case, View

_WITHOUT_A_TRACE = ("tail", "lack_of_dupacks", "ack_loss", "spurious")
FEWEST = 3  # minimum number of flows of an episode of incast
_WAIT = 0.1  # a stall is visible if the flow was silent for at least this share of the timer


def address(host: int) -> str:
    """Return the address of a host in captures."""
    return f"10.0.{(host + 1) // 256}.{(host + 1) % 256}"


def of(
    case: Case, view: View, path: Path, events: dict[str, Any], pairs: list[tuple[int, int]]
) -> dict[str, Any]:
    """Return the truth of a capture, from the events of its run; `pairs` are the flows' hosts."""
    names, codes = events["kind"]
    kinds = [names[code] for code in codes]
    names, codes = events["cause"]
    causes = [names[code] for code in codes]
    repairs = [row for row, kind in enumerate(kinds) if kind in ("timeout", "fast_retransmit")]
    seen = _by_server(read(path))
    doubts = _Doubts(case, view)
    stalls = []
    for row in repairs:
        doubtful = doubts.of(events, row, causes[row])
        if kinds[row] != "timeout":
            continue
        server, client = (address(host) for host in pairs[int(events["flow"][row])])
        at, rto = float(events["time_s"][row]), float(events["rto_s"][row])
        stalls.append(
            {
                "server": server,
                "client": client,
                "block": int(events["block"][row]),
                "expired": at,
                "rto": rto,
                "cause": causes[row],
                "in_doubt": doubtful,
                **_silence(seen.get(server, []), at, rto),
            }
        )
    return {
        "family": case.family,
        "look_alike": None if case.family in ("incast", "healthy") else case.family,
        "episodes": _episodes(events, kinds, causes, pairs) if case.family == "incast" else [],
        "stalls": stalls,
        "other_waits": _other_waits(events, kinds, causes, pairs),
        "drops": kinds.count("drop"),
        "servers": len({server for server, _ in pairs}),
        "vantage": view.at,
    }


class _Doubts:
    """Decides whether the cause of a timeout cannot be determined at a place.

    There are three such cases. First, if packets are not numbered, a capture behind the loss does
    not show how often a lost segment was sent. If this segment was outstanding when an earlier
    repair began, or was the next segment (RFC 6582 §3.2, "recover"), only the sender's algorithm
    decides whether it was retransmitted. Second, at a server, without SACK and duplicate ACKs, the
    retransmission of the only hole gets the same answer whether the segment or its ACKs were lost.
    Third, without SACK, only the receiver knows that a retransmitted segment had already arrived,
    and that its ACK was only held for longer than the timer.
    """

    def __init__(self, case: Case, view: View) -> None:
        star = case.document["network"].get("topology", "star") == "star"
        behind = view.at == "client" or (view.at == "switch" and not star)
        self.unnumbered = behind and not view.numbered
        self.at_server = view.at.startswith("server")
        transport = incast.load(case.document).plan.points[0].resolved["transport"]
        self.segment = int(transport["mss"])
        self.selective = bool(transport["sack"])
        self.limited = 2 * self.segment if transport["limited_transmit"] else 0
        self.fresh = case.document["workload"].get("connections", "fresh") == "fresh"
        self.earlier: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)

    def before_tahoe(self, ssthresh: int) -> int:
        """Return the number of outstanding bytes before Tahoe's fast retransmit sets it to 0.

        This is twice ssthresh, plus the bytes that limited transmit sent (RFC 5681 §3.2, steps 1
        and 2).
        """
        return 2 * ssthresh + self.limited

    def of(self, events: dict[str, Any], row: int, cause: str) -> bool:
        """Return whether the cause of a row is doubtful. Call this for the rows in their order."""
        flow, block = int(events["flow"][row]), int(events["block"][row])
        start = int(events["seq"][row])
        flight = int(events["flight"][row]) or self.before_tahoe(int(events["ssthresh"][row]))
        earlier = self.earlier[flow, block if self.fresh else 0]
        again = any(first < start <= end for first, end in earlier)
        if cause != "handshake":
            earlier.append((start, start + flight))
        silent = self.at_server and not self.selective and not events["dupacks"][row]
        alone = silent and (flight <= self.segment or cause in _WITHOUT_A_TRACE)
        early = cause == "spurious" and not self.selective
        return (self.unnumbered and again) or alone or early


def _other_waits(
    events: dict[str, Any], kinds: list[str], causes: list[str], pairs: list[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return the client's waits that delayed ACKs or probes ended, not retransmission timers."""
    rows = [row for row, kind in enumerate(kinds) if kind == "stall" and causes[row] != "timeout"]
    return [
        {
            "server": address(pairs[int(events["flow"][row])][0]),
            "start": float(events["time_s"][row]) - float(events["wait_s"][row]),
            "duration": float(events["wait_s"][row]),
            "cause": causes[row],
        }
        for row in rows
    ]


def _by_server(frames: list[Frame]) -> dict[str, list[Frame]]:
    """Return the frames of each server; the client is the end with the higher port."""
    found: dict[str, list[Frame]] = defaultdict(list)
    for frame in frames:
        server = frame.source if frame.ports[0] < frame.ports[1] else frame.target
        found[server].append(frame)
    return found


def _silence(frames: list[Frame], at: float, rto: float) -> dict[str, Any]:
    """Return the silence of a server before the expiry of its timer, as the capture shows it.

    Both ends of a connection may have a timer for the same loss. If the later timer expires when
    packets flow again, it ends no wait, and there is no visible silence before it.
    """
    times = [frame.time for frame in frames]
    # The packet that is sent when the timer expires ends the silence.
    after = bisect_left(times, at)
    if not 0 < after < len(frames):
        return {"visible": False, "start": at - rto, "duration": rto, "ports": None}
    start, end = times[after - 1], times[after]
    return {
        "visible": end - start >= _WAIT * rto,
        "start": start,
        "duration": end - start,
        "ports": sorted(frames[after].ports),
    }


def _episodes(
    events: dict[str, Any], kinds: list[str], causes: list[str], pairs: list[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return the blocks of at least three flows in which the link was idle until a timer expired.

    The timer of a tail-loss probe counts like a retransmission timer, because both timers end a
    wait that a loss caused.
    """
    blocks: dict[int, dict[str, Any]] = {}
    for row, kind in enumerate(kinds):
        block, at = int(events["block"][row]), float(events["time_s"][row])
        here = blocks.setdefault(
            block, {"block": block, "start": at, "end": at, "asked": set(), "stalled": set()}
        )
        here["end"] = max(here["end"], at)
        flow = int(events["flow"][row])
        if kind == "block_start":
            here["start"] = at
        elif kind == "request":
            here["asked"].add(flow)
        elif kind == "timeout":
            here["stalled"].add(flow)
        elif kind == "stall" and causes[row] in ("timeout", "tail_probe"):
            here["waited"] = here.get("waited", 0.0) + float(events["wait_s"][row])
            here["stalled"].add(flow)
    found = []
    for here in blocks.values():
        if len(here["asked"]) < FEWEST or "waited" not in here:
            continue
        found.append(
            {
                "block": here["block"],
                "start": here["start"],
                "end": here["end"],
                "receiver": address(pairs[min(here["asked"])][1]),
                "fan_in": len(here["asked"]),
                "waited": here["waited"],
                "stalled": [address(pairs[flow][0]) for flow in sorted(here["stalled"])],
            }
        )
    return found
