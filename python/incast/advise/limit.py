"""The limiting resource of a case, with its arithmetic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incast import units
from incast.advise.case import Case
from incast.scenario.lossless import block_bits, lossless_goodput

_SMALLEST = 2  # segments that a window has at least, as TCP reduces it
_FULL = 0.75  # share of the lossless goodput above which little is missing
_MOST = 0.5  # share of the timeouts that names their cause


@dataclass(frozen=True)
class Limit:
    """What limits the goodput: its name, and why."""

    name: str
    why: str


def limit_of(case: Case, row: Mapping[str, Any], collapsing: float = 0.0) -> Limit:
    """Name the limiting resource.

    Parameters
    ----------
    case
        The case.
    row
        The means of its runs, as of a summary, and their longest stall.
    collapsing
        The share of the runs that collapse: then the line is not what limits.
    """
    here = case.here
    goodput, lossless = float(row["goodput_bps"]), lossless_goodput(here)
    timeouts = float(row["timeouts"])
    if not collapsing and lossless == lossless and goodput >= _FULL * lossless:  # noqa: PLR0124
        return Limit(
            "line",
            f"Goodput is {units.rate(goodput)}, {units.percent(goodput / lossless)} of the "
            f"{units.rate(lossless)} that {here.line} carries without losses.",
        )
    probes = float(row.get("stalls_tail_probe") or 0.0)
    waits = timeouts + probes
    if not waits:
        return _without_timeouts(case, row, lossless)
    cost = _cost(case, row)
    if float(row["timeouts_handshake"] or 0.0) > _MOST * waits:
        return Limit(
            "handshake",
            f"{units.number(float(row['timeouts_handshake']) / _blocks(row), 2)} packets of a "
            f"handshake are lost per block, and each costs {units.time(here.syn_rto)}. {cost}",
        )
    smallest = _SMALLEST * here.flows
    fits = f"{here.buffer_packets} in the buffer and {here.round_trip_packets} on the path"
    if smallest > case.room:
        return Limit(
            "buffer",
            f"{here.flows} connections with the smallest windows, {_SMALLEST} packets each, have "
            f"{smallest} packets under way, but only {case.room} fit: {fits}. {cost}",
        )
    if timeouts / _blocks(row) < _MOST:
        told = _told_probes(row) if probes > timeouts else _told_timeouts(case, row)
        also = _told_timeouts(case, row) if probes > timeouts else _told_probes(row)
        name = "tail probe" if probes > timeouts else "timer"
        return Limit(name, f"A block waits {told}{f', and {also}' if also else ''}. {cost}")
    first = here.flows * min(here.initial_window, here.window_limit)
    burst = "already the first windows, " if first > case.room else "the first windows have "
    return Limit(
        "windows",
        f"{case.room} packets fit ({fits}), {case.room / here.flows:.1f} per connection; "
        f"{burst}{first}, and later ones grow up to {here.flows * here.window_limit}. {cost}",
    )


def _blocks(row: Mapping[str, Any]) -> float:
    return max(float(row["blocks"] or 0.0), 1.0)


def _told_timeouts(case: Case, row: Mapping[str, Any]) -> str:
    """Return how often a block waits for a timer, and how long at least; nothing if it does not."""
    timeouts = float(row["timeouts"])
    if not timeouts:
        return ""
    often = units.number(timeouts / _blocks(row), 2)
    least = min(case.here.rto_min, case.here.syn_rto)
    return f"{often} times for a timer, for {units.time(least)} or more each time"


def _told_probes(row: Mapping[str, Any]) -> str:
    """Return how often a block waits for a tail-loss probe; nothing if it does not."""
    probes = float(row.get("stalls_tail_probe") or 0.0)
    if not probes:
        return ""
    longest = row.get("stall_max_s")
    # With timeouts, the longest stall may be one of theirs.
    upto = f", for {units.time(float(longest))} at most" if longest and not row["timeouts"] else ""
    return f"{units.number(probes / _blocks(row), 2)} times for a tail-loss probe{upto}"


def _cost(case: Case, row: Mapping[str, Any]) -> str:
    """Return what waits cost, beside the time of the data."""
    here, timeouts = case.here, float(row["timeouts"])
    if not here.reads:
        return f"There are {units.number(timeouts, 2)} timeouts per run."
    ideal = block_bits(here) / lossless_goodput(here)
    mean = float(row["completion_s"] or 0.0)
    often = units.number(timeouts / _blocks(row), 2)
    least = units.time(min(here.rto_min, here.syn_rto))
    how = f"with {often} timeouts of at least {least}" if timeouts else "without a timeout"
    return f"A block needs {units.time(ideal)} without losses and takes {units.time(mean)}, {how}."


def _without_timeouts(case: Case, row: Mapping[str, Any], lossless: float) -> Limit:
    """Name what limits a case in which no timer expires."""
    here = case.here
    path = here.line_rate * here.base_rtt / 8 / here.packet
    windows = here.flows * here.receive_window
    busy = units.percent(float(row["link_utilization"] or 0.0))
    if windows < path:
        return Limit(
            "windows",
            f"The receive windows allow {windows} packets under way, the path holds "
            f"{path:.0f}: the link is busy {busy} of the time, without a timeout.",
        )
    of = f" of the {units.rate(lossless)} possible" if lossless == lossless else ""  # noqa: PLR0124
    return Limit(
        "transport",
        f"Goodput is {units.rate(float(row['goodput_bps']))}{of} without a timeout; the link is "
        f"busy {busy} of the time.",
    )
