"""The limits for the agreement with ns-2."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from validation.ns2.compare import Outcome

HALF_OF_THE_LINK = 500.0
"""Goodput in Mbps. A curve has collapsed from the point on at which it stays below this value."""
STEPS = (200.0, 600.0, 1400.0, 3000.0)
"""Block times in ms if one flow has one, two, three or four successive timeouts in a block."""


@dataclass(frozen=True)
class Verdict:
    """One bar: its requirement, the measured value, and the points that miss it."""

    bar: str
    measured: str
    misses: tuple[str, ...]
    holds: bool


def tell(console: Console, found: list[Verdict], page: str | None) -> bool:
    """Print every verdict with its misses, and the page's name; return whether all bars hold."""
    for verdict in found:
        word = "holds" if verdict.holds else "FAILS"
        console.print(f"{word}  {verdict.bar}: {verdict.measured}", soft_wrap=True)
        for miss in verdict.misses:
            console.print(f"       {miss}")
    if page is not None:
        console.print(f"written: docs/validation/{page}")
    return all(verdict.holds for verdict in found)


def judge(outcomes: list[Outcome]) -> list[Verdict]:
    """Judge the outcomes by every bar."""
    blocks = [it for it in outcomes if it.point.set in "abpv"]
    jittered = [it for it in outcomes if it.point.jittered]
    plateau = [it for it in outcomes if it.point.set in "abde" and it.point.servers >= 12]
    return [
        _all(
            "a, b, p, v: median block time within 2 % where fewer than 40 % of blocks stall",
            [it for it in blocks if it.stalled < 0.4],
            lambda it: it.p50_error,
            0.02,
        ),
        _median("p, v: median |ln goodput ratio| at most 0.07", jittered, 0.07),
        _all(
            "p, v: |ln goodput ratio| at most 0.25 where there are at least 0.2 timeouts per block",
            [it for it in jittered if it.timeouts[0] >= 0.2],
            lambda it: it.log_ratio,
            0.25,
        ),
        _all(
            "p, v: timeouts per block within 15 % where there is at least one",
            [it for it in jittered if it.timeouts[0] >= 1],
            lambda it: it.timeout_error,
            0.15,
        ),
        _knees(jittered),
        _median("a, b, d, e: median |ln goodput ratio| of N ≥ 12 at most 0.15", plateau, 0.15),
        _steps([it for it in outcomes if it.point.set in "abd"]),
    ]


def _label(outcome: Outcome) -> str:
    return f"{outcome.point.cfg} N={outcome.point.servers}"


def _all(
    bar: str, outcomes: list[Outcome], error: Callable[[Outcome], float], limit: float
) -> Verdict:
    worst = max((abs(error(it)) for it in outcomes), default=0.0)
    misses = tuple(f"{_label(it)}: {error(it):+.3f}" for it in outcomes if abs(error(it)) > limit)
    measured = f"{len(outcomes) - len(misses)} of {len(outcomes)} points; worst {worst:.3f}"
    return Verdict(bar, measured, misses, not misses)


def _median(bar: str, outcomes: list[Outcome], limit: float) -> Verdict:
    value = statistics.median(abs(it.log_ratio) for it in outcomes)
    return Verdict(bar, f"{value:.3f} over {len(outcomes)} points", (), value <= limit)


def curves(outcomes: list[Outcome]) -> dict[str, list[Outcome]]:
    """Return the outcomes of each configuration, in ascending order of servers."""
    grouped: dict[str, list[Outcome]] = defaultdict(list)
    for it in outcomes:
        grouped[it.point.cfg].append(it)
    return {cfg: sorted(curve, key=lambda it: it.point.servers) for cfg, curve in grouped.items()}


def knee(goodputs: list[float]) -> int:
    """Return the first index from which goodput stays below half of the link's rate."""
    index = len(goodputs)
    while index > 0 and goodputs[index - 1] < HALF_OF_THE_LINK:
        index -= 1
    return index


def _knees(outcomes: list[Outcome]) -> Verdict:
    misses, offsets = [], []
    for cfg, curve in curves(outcomes).items():
        theirs, ours = (knee([it.goodput[side] for it in curve]) for side in (0, 1))
        offsets.append(abs(ours - theirs))
        if offsets[-1] > 1:
            servers = [it.point.servers for it in curve]
            misses.append(f"{cfg}: N={servers[theirs]} in ns-2, N={servers[ours]} here")
    return Verdict(
        "p, v: the knee within one step of the grid",
        f"off by {max(offsets)} at most, {len(offsets)} curves",
        tuple(misses),
        not misses,
    )


def _steps(outcomes: list[Outcome]) -> Verdict:
    """Judge whether both simulators have blocks with each number of successive timeouts."""
    outcomes = [it for it in outcomes if it.point.cfg != "d_rto200us"]

    def reached(side: int) -> set[float]:
        return {step for step in STEPS for it in outcomes if 0 <= it.p50[side] - step < 0.1 * step}

    theirs, ours = reached(0), reached(1)
    misses = tuple(f"{step / 1e3} s" for step in sorted(theirs - ours))
    measured = ", ".join(f"{step / 1e3:g}" for step in sorted(ours))
    return Verdict(
        "a, b: median block times at the steps of 0.2, 0.6, 1.4 and 3.0 s",
        f"seen at {measured} s",
        misses,
        theirs <= ours and len(ours) == len(STEPS),
    )
