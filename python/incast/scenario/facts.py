"""Resolved scenarios in a few words, for headings."""

from collections.abc import Iterable

from incast import units
from incast.scenario.plan import Plan
from incast.scenario.resolved import Resolved


def of_plan(plan: Plan) -> str:
    """Name the main parameters, except those that differ among the points."""
    return words(point.here for point in plan.points)


def words(points: Iterable[Resolved]) -> str:
    """Name the main parameters that are the same at all points."""
    first, *others = map(_facts, points)
    return ", ".join(fact for fact in first if all(fact in other for other in others))


def _facts(here: Resolved) -> list[str]:
    return [
        here.line,
        f"buffer {here.buffer}",
        units.plural(here.servers, "server"),
        _asked(here),
        here.transport,
        f"profile {here.profile}",
        f"RTO min {units.time(here.rto_min)}",
    ]


def _asked(here: Resolved) -> str:
    if not here.judged:
        return here.doing
    if not here.reads:
        return "long flows"
    if here.block is not None:
        return f"block {units.size(here.block)}"
    return f"SRU {units.size(here.sru)}"
