"""Uncertain quantities that would change the advice, and how to measure them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from incast.advise.case import Case
from incast.advise.goal import Goal
from incast.advise.search import ALIKE, Advised
from incast.advise.trials import BASE, Clock, TimeUp, Trials

SEEDS = range(1, 5)
_FACTORS = (0.5, 2.0)
_MATTERS = 2 * ALIKE  # the first fix is replaced if another fix is better by this share
_STILL = 1.05  # a fix still helps if its gain is at least this factor

Changes = dict[str, object]


@dataclass(frozen=True)
class Unknown:
    """A quantity that users often guess.

    Parameters
    ----------
    name
        The name of the quantity.
    measure
        How to measure the quantity.
    times
        A function that returns the changes to a scenario that multiply the quantity by a factor;
        empty if the scenario does not have the quantity.
    """

    name: str
    measure: str
    times: Callable[[Case, float], Changes]


@dataclass(frozen=True)
class Sensitive:
    """A quantity that would change the advice.

    Parameters
    ----------
    name
        The name of the quantity.
    factor
        The factor by which the quantity was multiplied.
    said
        The difference that the factor makes, as a clause.
    measure
        How to measure the quantity.
    """

    name: str
    factor: float
    said: str
    measure: str

    def to_dict(self) -> dict[str, Any]:
        """Return the quantity as a dictionary, for programs."""
        return {
            "what": self.name,
            "factor": self.factor,
            "changes": self.said,
            "measure": self.measure,
        }


def _buffer(case: Case, factor: float) -> Changes:
    return {"network.buffer": case.buffer_times(factor)}


def _round_trip(case: Case, factor: float) -> Changes:
    here, given = case.here, case.scenario.document.get("network", {})
    if "base_rtt" in given:
        return {"network.base_rtt": f"{here.base_rtt * factor * 1e9:.0f}ns"}
    seconds = float(str(here.tree["network"]["delay"]).removesuffix("s"))
    return {"network.delay": f"{seconds * factor * 1e9:.0f}ns"}


def _answer(case: Case, factor: float) -> Changes:
    if not case.reads:
        return {}
    if case.here.block is not None:
        return {"workload.block": max(round(case.here.block * factor), 1)}
    return {"workload.sru": max(round(case.here.sru * factor), 1)}


UNKNOWNS = (
    Unknown(
        "buffer",
        "On the switch: `show buffer configuration`, and `show queue watermark unicast` during a "
        "burst (SONiC). A port that drops packets has used all the buffer that it may use.",
        _buffer,
    ),
    Unknown(
        "round trip",
        "On the client, while it is idle: `ss -tin` (minrtt), or `ping -c 100 -i 0.2 SERVER` "
        "(min).",
        _round_trip,
    ),
    Unknown(
        "bytes per server",
        "On the client: bytes_received of `ss -tin` before and after one request, or a capture.",
        _answer,
    ),
)


def sensitive(
    case: Case, advised: list[Advised], beside: Trials, clock: Clock, goal: Goal
) -> list[Sensitive]:
    """Halve and double every uncertain quantity; return the quantities that change the advice.

    Parameters
    ----------
    case
        The case.
    advised
        The first fix of every party, in the order of advice.
    beside
        The trials of the case. New runs are kept in the same store.
    clock
        The time limit. When it ends, the quantities found so far are returned.
    goal
        The goal by which a fix is judged.
    """
    found: list[Sensitive] = []
    for unknown in UNKNOWNS:
        for factor in _FACTORS:
            try:
                found += _tried(case, advised, (unknown, factor), beside, clock, goal)
            except TimeUp:
                return found
    return found


def _tried(
    case: Case,
    advised: list[Advised],
    scaled: tuple[Unknown, float],
    beside: Trials,
    clock: Clock,
    goal: Goal,
) -> Iterator[Sensitive]:
    unknown, factor = scaled
    changes = unknown.times(case, factor)
    if not changes:
        return iter(())
    other = replace(case, scenario=case.changed(changes))
    trials = Trials(other, beside.jobs, beside.store)
    usable = [
        one
        for one in advised
        if not set(one.fix.changes) & set(changes)
        and trials.add(one.fix.name, one.fix.changes, one.fix.pieces)
    ]
    beside.run([BASE], SEEDS, clock)
    trials.run([BASE, *(one.fix.name for one in usable)], SEEDS, clock)
    before = beside.collapsed(BASE, SEEDS) if case.here.judged else None
    return _differences(before, trials, usable, scaled, goal)


def _differences(
    before: tuple[bool, float] | None,
    trials: Trials,
    usable: list[Advised],
    scaled: tuple[Unknown, float],
    goal: Goal,
) -> Iterator[Sensitive]:
    """Yield the differences that the scaled quantity makes.

    `before` is the result of `Trials.collapsed` for the case; None if a collapse is not defined.
    """
    unknown, factor = scaled

    def found(said: str) -> Sensitive:
        return Sensitive(unknown.name, factor, said, unknown.measure)

    after = trials.collapsed(BASE, SEEDS)
    if before is not None and after is not None:
        if any(before) and not any(after):
            yield found("there is no collapse")
            return
        if after[0] and not any(before):
            yield found("there is a collapse")
            return
    times = {one.fix.name: goal.times(trials, one.fix.name, SEEDS) for one in usable}
    if not any(times.values()):
        return
    first = usable[0].fix.name
    best = max(times, key=lambda name: times[name])
    if times[first] < _STILL:
        yield found(f"“{first}” no longer helps")
    elif times[first] < (1 - _MATTERS) * times[best]:
        gain = times[best] / times[first]
        yield found(f"“{best}” is {gain:.2f} times as good as “{first}”")
