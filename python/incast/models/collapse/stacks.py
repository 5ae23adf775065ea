"""Differences between hosts that the model distinguishes."""

from dataclasses import dataclass
from typing import Any

from incast.scenario.resolved import Resolved

EXITS = ("ssthresh", "flight", "keep")
HALVED = ("flight", "cwnd", "pipe")
STYLES = ("rfc", "linux", "ns2", "ns3")
IDLE = ("none", "5681", "2861")
NEWRENO, SACK, UNKNOWN = 0.0, 1.0, 2.0


@dataclass(frozen=True)
class Stack:
    """One stack's ways; numbers are places in the tuples above.

    Parameters
    ----------
    repair
        The loss recovery: NewReno, SACK, or unknown to the model.
    careful, impatient, restarts_timer
        RFC 6582 §3.2, step 2, and §4, and whether a fast retransmit restarts the timer.
    limited_transmit
        Whether two duplicate ACKs release a segment each.
    exit, halved
        The window after a recovery, and what a loss halves.
    burst
        New segments that an ACK may release in recovery; 0 if any number.
    answers, rescues
        With SACK: partial ACKs are answered, and the tail is sent again (ns-3; RFC 6675).
    watches
        Slow start ends where round trips grow, as with Linux's CUBIC.
    style, granularity
        The computation of the timeout, and its tick, s.
    per_window, runs_idle
        One segment of a window is timed; the timer runs on while nothing is out.
    ack_every, ack_timeout, quick
        Segments to an ACK, the seconds that one waits, and how many come at once before.
    idle
        The effect of an idle period on the window.
    arrival_first
        A packet that leaves in the instant of an arrival is still there.
    """

    repair: float
    careful: bool
    impatient: bool
    restarts_timer: bool
    limited_transmit: bool
    exit: float
    halved: float
    burst: float
    answers: bool
    rescues: bool
    watches: bool
    style: float
    granularity: float
    per_window: bool
    runs_idle: bool
    ack_every: float
    ack_timeout: float
    quick: float
    idle: float
    arrival_first: bool


def stack(point: Resolved) -> Stack:
    """Return the ways of a scenario's hosts."""
    network, transport = point.tree["network"], point.tree["transport"]
    recovery, control = transport["recovery"], transport["congestion_control"]
    repair = {"newreno": NEWRENO, "sack": SACK}.get(recovery["name"], UNKNOWN)
    if control["name"] != "reno":
        repair = UNKNOWN
    halved = "flight" if control.get("reduce_from") is None else control["reduce_from"]
    if recovery.get("reduce_from") == "pipe":
        halved = "pipe"
    burst = transport["recovery_burst"]
    delayed: dict[str, Any] = transport["delayed_ack"] or {}
    return Stack(
        repair=repair,
        careful=recovery.get("careful", True),
        impatient=recovery.get("impatient", True),
        restarts_timer=recovery.get("restart_timer_on_entry", True),
        limited_transmit=transport["limited_transmit"],
        exit=float(EXITS.index(recovery.get("exit", "ssthresh"))),
        halved=float(HALVED.index(halved)),
        burst=0.0 if burst == "unlimited" else float(burst),
        answers=recovery.get("answer_partial_acks", False),
        rescues=recovery.get("rescue", False),
        watches=control.get("hystart", {}).get("name") == "linux",
        style=float(STYLES.index(transport["rto_style"])),
        granularity=point.facts["rto_granularity_s"],
        per_window=transport["rtt_sampling"] == "per-window" and not transport["timestamps"],
        runs_idle=transport["rto_runs_idle"],
        ack_every=float(delayed.get("segments", 1)),
        ack_timeout=point.facts["delayed_ack_s"],
        quick=float(delayed.get("quickack", 0)),
        idle=float(IDLE.index(transport["idle_restart"])),
        arrival_first=network["ties"] != "departure-first",
    )
