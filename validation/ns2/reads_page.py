"""Bars and tables for the stored reads and long flows of ns-2."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from validation.common import page
from validation.common.judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from validation.ns2.reads import Pair

SETS = {
    "star": "Segments of 536 to 8960 bytes, unequal links, buffers in bytes, other timers",
    "sack": "SACK, send delays of 1 and 8 µs",
    "tahoe": "Tahoe, segments of 1460 bytes",
    "red": "RED with `wait_`, ns-2's default, and without it",
    "fast": "10 Gbps, RTOmin 0.2 ms",
    "rtt": "A round trip of 2 ms",
    "redlong": "Long flows through RED, with `wait_` and without it",
    "bic": "Long flows of BIC (`TCP/Linux`)",
}
OPENING = """
## Other reads and long flows

Both simulators ran the star of `validation/reference/ns2/read.tcl`. Each set varies the parameters
in its title. The random send delay is 8 µs unless the title names another one. Means of long flows
are given with their standard error over the runs.
"""


def judge(pairs: list[Pair]) -> list[Verdict]:
    """Judge every set by its bars."""
    found = []
    for name in SETS:
        judged = [it for it in pairs if it.read.set == name]
        if not judged:
            continue
        found += _long(name, judged) if judged[0].read.long else _reads(name, judged)
    return found


def _reads(name: str, pairs: list[Pair]) -> list[Verdict]:
    median = statistics.median(abs(it.log_ratio) for it in pairs)
    return [
        Verdict(
            f"{name}: median |ln goodput ratio| at most 0.06",
            f"{median:.3f} over {len(pairs)} points",
            (),
            median <= 0.06,
        ),
        _all(
            f"{name}: median block time within 3 % where fewer than 40 % of blocks stall",
            (it for it in pairs if it.ns2.stalled < 0.4),
            lambda it: it.p50_error,
            0.03,
        ),
        _all(
            f"{name}: timeouts per block within 15 % where there is at least one",
            (it for it in pairs if it.ns2.timeouts >= 1),
            lambda it: it.error("timeouts"),
            0.15,
        ),
    ]


def _long(name: str, pairs: list[Pair]) -> list[Verdict]:
    # incast's transport resembles TCP/Linux only approximately, and not with two flows.
    loss, least = (0.3, 4) if name == "bic" else (0.15, 0)
    judged = [it for it in pairs if it.read.servers >= least]
    among = f" from {least} flows on" if least else ""
    return [
        _beyond_chance(f"{name}: loss within {loss:.0%}{among}", judged, "loss", loss),
        _beyond_chance(
            f"{name}: queue within 15 %{among} where at least 3 packets wait",
            [it for it in judged if it.ns2.queue >= 3],
            "queue",
            0.15,
        ),
    ]


def _beyond_chance(bar: str, pairs: list[Pair], quantity: str, limit: float) -> Verdict:
    """Judge errors by a limit, or by two standard errors if this is larger than the limit."""
    bar += ", or two standard errors"
    errors = {_label(it): (it.error(quantity), 2 * it.chance(quantity)) for it in pairs}
    misses = tuple(
        f"{name}: {error:+.3f}, two standard errors are {chance:.3f}"
        for name, (error, chance) in errors.items()
        if abs(error) > max(limit, chance)
    )
    worst = max((abs(error) for error, _ in errors.values()), default=0.0)
    measured = f"{len(errors) - len(misses)} of {len(errors)} points; worst {worst:.3f}"
    return Verdict(bar, measured, misses, not misses)


def judge_sample(pairs: list[Pair]) -> list[Verdict]:
    """Judge single points by a bar that is so wide that chance alone does not cause a miss."""
    return [
        _all(
            "sample: |ln goodput ratio| at most 0.3",
            pairs,
            lambda it: it.log_ratio,
            0.3,
        )
    ]


def _all(bar: str, pairs: Iterable[Pair], error: Callable[[Pair], float], limit: float) -> Verdict:
    errors = {_label(it): error(it) for it in pairs}
    misses = tuple(f"{name}: {value:+.3f}" for name, value in errors.items() if abs(value) > limit)
    worst = max((abs(value) for value in errors.values()), default=0.0)
    measured = f"{len(errors) - len(misses)} of {len(errors)} points; worst {worst:.3f}"
    return Verdict(bar, measured, misses, not misses)


def _label(pair: Pair) -> str:
    return f"{_name(pair)}, N={pair.read.servers}"


def _name(pair: Pair) -> str:
    """Return the parameters in which the configuration differs from others of its set."""
    read = pair.read
    unit = "B" if read.bytes else "pkt"
    parts = {
        "star": f"{read.segment} B, {read.rate}/{read.client_rate} Mbps, {read.buffer}{unit}, "
        f"RTOmin {read.rto_min:g} ms",
        "sack": f"{read.buffer} packets, {read.jitter} µs",
        "red": f"`wait_` {read.red[-1:]}",
        "redlong": f"`wait_` {read.red[-1:]}",
        "fast": f"links of {read.delay} µs, tick {read.tick} µs",
        "bic": f"links of {read.delay} µs" + f", servers' {read.rate} Mbps" * (read.rate != 1000),
    }
    return parts.get(read.set, f"{read.buffer} packets")


def tables(pairs: list[Pair]) -> list[str]:
    """Return the part of the page on reads and long flows."""
    lines = OPENING.splitlines()
    for name, title in SETS.items():
        chosen = [it for it in pairs if it.read.set == name]
        if not chosen:
            continue
        lines += ["", f"### {title}", ""]
        if chosen[0].read.long:
            quantities = ("lost, %", "packets waiting", "timeouts per run")
            rows = [(it, _long_cells(it)) for it in chosen]
        else:
            quantities = ("goodput, Mbps", "timeouts per block", "median block time, ms")
            rows = [(it, _read_cells(it)) for it in chosen]
        cells = [(_name(it), it.read.servers, *values) for it, values in rows]
        lines += page.table("configuration", quantities, "ns-2", cells)
    return lines


def _read_cells(pair: Pair) -> tuple[str, ...]:
    sides = (pair.ns2, pair.here)
    return (
        *(f"{it.goodput:.1f}" for it in sides),
        *(f"{it.timeouts:.3g}" for it in sides),
        *(f"{it.p50:.2f}" for it in sides),
    )


def _long_cells(pair: Pair) -> tuple[str, ...]:
    sides = (pair.ns2, pair.here)
    return (
        *(f"{100 * it.loss:.3f} ± {100 * it.spread['loss']:.3f}" for it in sides),
        *(f"{it.queue:.1f} ± {it.spread['queue']:.1f}" for it in sides),
        *(f"{it.timeouts:.0f}" for it in sides),
    )
