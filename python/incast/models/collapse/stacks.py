"""The differences between TCP stacks that the model distinguishes."""

from dataclasses import dataclass
from typing import Any

from incast import units
from incast.scenario.resolved import Resolved

REPAIRS = ("tahoe", "reno", "newreno", "sack", "sack1", "rack-tlp")
EXITS = ("ssthresh", "flight", "keep")
HALVED = ("flight", "cwnd", "cwnd-once", "pipe")
STYLES = ("rfc", "linux", "ns2", "ns3")
IDLE = ("none", "5681", "2861")
UNDOS = ("none", "f-rto", "linux")
GROWTHS = ("acks", "data", "all-data", "cubic", "bbr")
WATCHES = ("off", "rfc9406", "linux", "ns3")


@dataclass(frozen=True)
class Stack:
    """The behaviour of one stack. A parameter with named values is an index in a tuple above.

    Parameters
    ----------
    repair
        The loss recovery.
    careful, impatient, restarts_timer
        Whether a fast retransmit needs an ACK beyond the data that were outstanding at the last
        loss (RFC 6582 §3.2, step 2), whether only the first partial ACK restarts the timer (§4),
        and whether a fast retransmit restarts the timer.
    limited_transmit, limited_again
        Whether each of the first two duplicate ACKs releases a segment, and whether the released
        segment may be one that is sent again after a timeout.
    in_turn
        With Tahoe: whether a retransmission waits for the host's random send delay, like other
        data.
    exit, halved
        The window after a recovery, and the quantity that a loss reduces.
    burst
        Largest number of new segments that an ACK may release in recovery; 0 for any number.
    answers, rescues
        With SACK: whether a partial ACK causes a retransmission (ns-3), and whether recovery sends
        a rescue retransmission (RFC 6675).
    block_bytes
        Whether the SACK blocks of an ACK lengthen the ACK.
    whole_windows
        Whether windows count packets instead of bytes.
    defers, closes
        Whether small bursts wait until ACKs allow larger bursts, as in Linux, and whether a
        connection is closed with a FIN after its data.
    proportional, examine
        Whether recovery uses proportional rate reduction, as in Linux, and how the sender detects
        a spurious timeout.
    growth
        The rule by which the window grows.
    cubic_c, cubic_beta, cubic_yields, cubic_friendly, cubic_blind, cubic_counts
        The parameters of CUBIC.
    watch
        The rule that ends CUBIC's slow start.
    bbr_startup, bbr_cruise, bbr_probe
        BBR's gain for rate and window in Startup, its later gain for the window, and its gain for
        the rate in a probe.
    bbr_rounds, bbr_full_rounds, bbr_least, bbr_burst
        Rounds of BBR's bandwidth filter, rounds without growth that end Startup, the least window
        in segments, and the burst in segments.
    bbr_burst_time, bbr_round_trip_time, bbr_probe_time
        The least time of a burst, the time after which the smallest round trip expires, and the
        duration of ProbeRTT, s.
    uses_marks, mark_alpha, mark_gain, mark_floor, mark_at_once
        Whether marks reduce the window, and the parameters of DCTCP.
    probes, probe_first, probe_margin, probe_ack_delay, reduces_again, needs_reordering
        The parameters of RACK-TLP; times in s.
    style, granularity
        How the RTO is computed, and the granularity of the RTO, s.
    per_window, timestamps, times_blocks
        Whether one segment per window is timed, whether retransmissions are timed, too, and whether
        a segment is also timed when a duplicate ACK reports it for the first time.
    tick
        Tick of the hosts' timers, s.
    runs_idle
        Whether the timer continues to run while no data are outstanding.
    ack_every, ack_timeout, quick, counts_acks
        Segments per ACK, the longest delay of an ACK in seconds, and the number of segments that
        are acknowledged one by one at first. With `counts_acks`, `quick` is a number of ACKs, and
        the count starts anew after a silence, as in Linux.
    idle
        The effect of an idle period on the window.
    arrival_first
        Whether a packet that leaves at the time of an arrival still occupies the buffer.
    """

    repair: float
    careful: bool
    impatient: bool
    restarts_timer: bool
    limited_transmit: bool
    limited_again: bool
    in_turn: bool
    exit: float
    halved: float
    burst: float
    answers: bool
    rescues: bool
    block_bytes: bool
    whole_windows: bool
    defers: bool
    closes: bool
    proportional: bool
    examine: float
    growth: float
    cubic_c: float
    cubic_beta: float
    cubic_yields: bool
    cubic_friendly: bool
    cubic_blind: float
    cubic_counts: bool
    watch: float
    bbr_startup: float
    bbr_cruise: float
    bbr_probe: float
    bbr_rounds: float
    bbr_full_rounds: float
    bbr_least: float
    bbr_burst: float
    bbr_burst_time: float
    bbr_round_trip_time: float
    bbr_probe_time: float
    uses_marks: bool
    mark_alpha: float
    mark_gain: float
    mark_floor: float
    mark_at_once: bool
    probes: float
    probe_first: float
    probe_margin: float
    probe_ack_delay: float
    reduces_again: bool
    needs_reordering: bool
    style: float
    granularity: float
    per_window: bool
    timestamps: bool
    times_blocks: bool
    tick: float
    runs_idle: bool
    ack_every: float
    ack_timeout: float
    quick: float
    counts_acks: bool
    idle: float
    arrival_first: bool


def stack(point: Resolved) -> Stack:
    """Return the behaviour of the hosts of a scenario."""
    network, transport = point.tree["network"], point.tree["transport"]
    recovery, control = transport["recovery"], transport["congestion_control"]
    halved = "flight" if control.get("reduce_from") is None else control["reduce_from"]
    if recovery.get("reduce_from") == "pipe":
        halved = "pipe"
    burst = transport["recovery_burst"]
    delayed: dict[str, Any] = transport["delayed_ack"] or {}
    return Stack(
        repair=float(REPAIRS.index(recovery["name"])),
        careful=recovery.get("careful", True),
        impatient=recovery.get("impatient", True),
        restarts_timer=recovery.get("restart_timer_on_entry", True),
        limited_transmit=transport["limited_transmit"],
        limited_again=transport["limited_transmit_resends"],
        in_turn=recovery.get("in_turn", False),
        exit=float(EXITS.index(recovery.get("exit", "ssthresh"))),
        halved=float(HALVED.index(halved)),
        burst=0.0 if burst == "unlimited" else float(burst),
        answers=recovery.get("answer_partial_acks", False),
        rescues=recovery.get("rescue", False),
        block_bytes=transport["sack_option_bytes"],
        whole_windows=transport["window_unit"] == "packets",
        defers=transport["tso_deferral"],
        closes=transport["fin"] and point.fresh,
        proportional=transport["prr"] == "linux",
        examine=float(UNDOS.index(transport["undo"])),
        **_growth(control),
        **_bbr(control),
        **_marks(control),
        **_rack(recovery, point),
        style=float(STYLES.index(transport["rto_style"])),
        granularity=point.facts["rto_granularity_s"],
        per_window=transport["rtt_sampling"] == "per-window" and not transport["timestamps"],
        timestamps=transport["timestamps"],
        times_blocks=transport["rtt_sampling"] == "linux",
        tick=_seconds(transport["timer_tick"]),
        runs_idle=transport["rto_runs_idle"],
        ack_every=float(delayed.get("segments", 1)),
        ack_timeout=point.facts["delayed_ack_s"],
        quick=float(delayed.get("quickack", 0)),
        counts_acks=delayed.get("pingpong", False),
        idle=float(IDLE.index(transport["idle_restart"])),
        arrival_first=network["ties"] != "departure-first",
    )


def _seconds(value: object) -> float:
    return units.quantity(str(value), "time")


def _growth(control: dict[str, Any]) -> dict[str, Any]:
    """Return the rule of window growth, and CUBIC's parameters; the defaults are those of `lab`."""
    name = control["name"]
    counts = control.get("byte_counting", False)
    whole = counts and control.get("slow_start_limit") == 0
    growth = "all-data" if whole else "data" if counts else "acks"
    if name in GROWTHS:
        growth = name
    hystart: dict[str, Any] = control.get("hystart", {"name": "off"})
    watch = "ns3" if hystart.get("train_divisor") == 1 else hystart["name"]
    return {
        "growth": float(GROWTHS.index(growth)),
        "cubic_c": control.get("c", 0.4),
        "cubic_beta": control.get("beta", 0.7),
        "cubic_yields": control.get("fast_convergence", True),
        "cubic_friendly": control.get("reno_friendly", True),
        "cubic_blind": float(control.get("blind_growth", 0)),
        "cubic_counts": control.get("counting") == "linux",
        "watch": float(WATCHES.index(watch)),
    }


def _bbr(control: dict[str, Any]) -> dict[str, Any]:
    """Return BBR's parameters; the defaults are those of the draft."""
    return {
        "bbr_startup": control.get("startup_gain", 2.885),
        "bbr_cruise": control.get("cwnd_gain", 2.0),
        "bbr_probe": control.get("probe_gain", 1.25),
        "bbr_rounds": float(control.get("bandwidth_rounds", 10)),
        "bbr_full_rounds": float(control.get("full_rounds", 3)),
        "bbr_least": float(control.get("least_window", 4)),
        "bbr_burst": float(control.get("burst", 1)),
        "bbr_burst_time": _seconds(control.get("burst_time", "0s")),
        "bbr_round_trip_time": _seconds(control.get("round_trip_time", "10s")),
        "bbr_probe_time": _seconds(control.get("probe_rtt_time", "0.2s")),
    }


def _marks(control: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the reaction to marks."""
    return {
        "uses_marks": control["name"] == "dctcp",
        "mark_alpha": control.get("alpha", 1.0),
        "mark_gain": control.get("g", 0.0),
        "mark_floor": float(control.get("floor", 2)),
        "mark_at_once": control.get("react_at") == "first-ece",
    }


def _rack(recovery: dict[str, Any], point: Resolved) -> dict[str, Any]:
    """Return the parameters of RACK-TLP."""
    delay = recovery.get("max_ack_delay")
    return {
        "probes": float(recovery.get("probes", 0)),
        "probe_first": _seconds(recovery.get("probe_initial", "1s")),
        "probe_margin": _seconds(recovery.get("timer_margin", "0s")),
        "probe_ack_delay": point.facts["delayed_ack_s"] if delay is None else _seconds(delay),
        "reduces_again": recovery.get("reduce_for_lost_retransmission", False),
        "needs_reordering": recovery.get("dsack_needs_reordering", False),
    }
