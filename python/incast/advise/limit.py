"""The limiting resource of a case, with the arithmetic that shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incast import units
from incast.advise.case import Case
from incast.scenario.lossless import block_bits, lossless_goodput
from incast.scenario.resolved import Resolved

_SMALLEST = 2  # segments: the smallest window to which TCP reduces
_FULL = 0.75  # at this share of the lossless goodput or more, the line is the limit
# Handshakes are the limit if they cause more than this share of the waits. If a block has fewer
# timeouts than this number on average, the limit is a timer or a tail probe.
_MOST = 0.5


@dataclass(frozen=True)
class Limit:
    """The resource that limits the goodput.

    Parameters
    ----------
    name
        The name of the resource.
    why
        Sentences that explain the limit, with a placeholder for each fact.
    facts
        The numbers in the sentences, in SI units. The end of a fact's name gives the unit (`_s`,
        `_bps`, `_share`), as in the names of columns.
    """

    name: str
    why: str
    facts: Mapping[str, float]

    def sentences(self) -> str:
        """Return the sentences with their numbers."""
        return self.why.format(**{name: _written(name, it) for name, it in self.facts.items()})


def _written(name: str, value: float) -> str:
    if name.endswith("_share"):
        return units.percent(value)
    kind = units.kind_of(name)
    if kind == "rate":
        return units.rate(value)
    if kind == "time":
        return units.time(value)
    return str(value) if isinstance(value, int) else units.number(value, 2)


def limit_of(case: Case, row: Mapping[str, Any], collapsing: float = 0.0) -> Limit:
    """Name the limiting resource.

    Parameters
    ----------
    case
        The case.
    row
        The means over the runs of the case, as in a summary, and the longest stall.
    collapsing
        The share of the runs that collapse. If any run collapses, the line is not the limit.
    """
    here = case.here
    goodput, lossless = float(row["goodput_bps"]), lossless_goodput(here)
    timeouts = float(row["timeouts"])
    if not collapsing and lossless == lossless and goodput >= _FULL * lossless:  # noqa: PLR0124
        facts = {
            "goodput_bps": goodput,
            "of_lossless_share": goodput / lossless,
            "lossless_bps": lossless,
        }
        return Limit(
            "line",
            "Goodput is {goodput_bps}, {of_lossless_share} of the {lossless_bps} that "
            f"{here.line} carries without losses.",
            facts,
        )
    probes = float(row.get("stalls_tail_probe") or 0.0)
    waits = timeouts + probes
    if not waits:
        return _without_timeouts(case, row, lossless)
    cost, facts = _cost(case, row)
    handshakes = float(row["timeouts_handshake"] or 0.0)
    if handshakes > _MOST * waits:
        facts |= {"handshakes": handshakes / _blocks(row), "syn_rto_s": here.syn_rto}
        text = "{handshakes} packets of handshakes are lost per block. Each loss costs {syn_rto_s}."
        return Limit("handshake", f"{text} {cost}", facts)
    room = {
        "flows": here.flows,
        "smallest": _SMALLEST * here.flows,
        "room": case.room,
        "buffer": here.buffer_packets,
        "path": here.round_trip_packets,
    }
    fits = "{buffer} in the buffer and {path} on the path"
    if room["smallest"] > case.room:
        text = (
            f"{{flows}} connections with the smallest windows, {_SMALLEST} packets each, have "
            f"{{smallest}} packets in flight, but only {{room}} fit: {fits}."
        )
        return Limit("buffer", f"{text} {cost}", facts | room)
    if timeouts / _blocks(row) < _MOST:
        kinds = [_timer_waits(here, row), _probe_waits(row)]
        name = "tail probe" if probes > timeouts else "timer"
        texts = [text for text, _ in (reversed(kinds) if probes > timeouts else kinds) if text]
        for _, more in kinds:
            facts |= more
        return Limit(name, f"A block waits {', and '.join(texts)}. {cost}", facts)
    first = here.flows * min(here.initial_window, here.window_limit)
    burst = "even the first windows" if first > case.room else "the first windows"
    windows = room | {
        "each": case.room / here.flows,
        "first": first,
        "most": here.flows * here.window_limit,
    }
    text = (
        f"{{room}} packets fit ({fits}), {{each}} per connection; {burst} together have "
        "{first} packets, and later windows grow to up to {most}."
    )
    return Limit("windows", f"{text} {cost}", facts | windows)


def _blocks(row: Mapping[str, Any]) -> float:
    return max(float(row["blocks"] or 0.0), 1.0)


def _timer_waits(here: Resolved, row: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Return how often a block waits for a timer, and the shortest wait; empty if it never does."""
    timeouts = float(row["timeouts"])
    if not timeouts:
        return "", {}
    return "{timeouts} times for a timer, for {rto_s} or more each time", _timers(here, row)


def _timers(here: Resolved, row: Mapping[str, Any]) -> dict[str, float]:
    """Return the number of timeouts per block, and the length of the shortest timeout."""
    least = min(here.rto_min, here.syn_rto)
    return {"timeouts": float(row["timeouts"]) / _blocks(row), "rto_s": least}


def _probe_waits(row: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Return how often a block waits for a tail-loss probe; empty if it never waits."""
    probes = float(row.get("stalls_tail_probe") or 0.0)
    if not probes:
        return "", {}
    text, facts = "{probes} times for a tail-loss probe", {"probes": probes / _blocks(row)}
    longest = row.get("stall_max_s")
    # If there are timeouts, the longest stall may be due to a timeout.
    if longest and not row["timeouts"]:
        return f"{text}, for {{longest_s}} at most", facts | {"longest_s": float(longest)}
    return text, facts


def _cost(case: Case, row: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
    """Return a sentence on the cost of the waits, and the facts in this sentence."""
    here, timeouts = case.here, float(row["timeouts"])
    if not here.reads:
        return "There are {timeouts} timeouts per run.", {"timeouts": timeouts}
    facts = {
        "ideal_s": block_bits(here) / lossless_goodput(here),
        "mean_s": float(row["completion_s"] or 0.0),
    }
    text = "A block needs {ideal_s} without losses and takes {mean_s}"
    if not timeouts:
        return f"{text}, without a timeout.", facts
    more = _timers(here, row)
    return f"{text}, with {{timeouts}} timeouts of at least {{rto_s}}.", facts | more


def _without_timeouts(case: Case, row: Mapping[str, Any], lossless: float) -> Limit:
    """Name the limit of a case in which no timer expires."""
    here = case.here
    path = here.line_rate * here.base_rtt / 8 / here.packet
    windows = here.flows * here.receive_window
    facts: dict[str, float] = {"busy_share": float(row["link_utilization"] or 0.0)}
    if windows < path:
        return Limit(
            "windows",
            "The receive windows allow {windows} packets in flight, but the path holds {path}. So "
            "the link is busy {busy_share} of the time, without a timeout.",
            facts | {"windows": windows, "path": round(path)},
        )
    facts["goodput_bps"] = float(row["goodput_bps"])
    of = ""
    if lossless == lossless:  # noqa: PLR0124 (not NaN)
        of, facts["lossless_bps"] = " of the {lossless_bps} possible", lossless
    return Limit(
        "transport",
        f"Goodput is {{goodput_bps}}{of}. No timer expires; the link is busy {{busy_share}} of the "
        "time.",
        facts,
    )
