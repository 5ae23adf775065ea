"""Which points have enough seeds, and which need more (`run.precision`).

A point is checked when it has 5, 10, 20, … seeds, and is done as soon as its interval is narrow.
Some intervals are narrow by chance. Without a correction, the interval that ends the runs misses
the mean too often. Therefore the error of 5 % is divided by the number of possible checks. Then all
intervals of a point together contain the point's mean in at least 95 % of the sweeps (Bonferroni's
inequality), whichever interval is the last.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incast import units
from incast.results.intervals import CONFIDENCE, HIGH, LOW
from incast.results.series import label_of
from incast.scenario.plan import Plan
from incast.scenario.precision import Precision

if TYPE_CHECKING:
    from incast.results import Results
    from incast.results.store import Store

_OF = "goodput_bps"
_NAMED = 5  # maximum number of points named among those that miss the precision


def confidence_of(precision: Precision | None) -> float:
    """Return the confidence of a single interval, so that all intervals together have 95 %."""
    return CONFIDENCE if precision is None else 1 - (1 - CONFIDENCE) / len(precision.looks)


@dataclass(frozen=True)
class Look:
    """The state of a point.

    Parameters
    ----------
    seeds
        The number of seeds that the point needs, as far as its finished runs tell.
    missing
        Whether some of these seeds are missing.
    width
        The distance between the mean and the farther end of its interval, as a share of the mean.
        None if seeds are missing, or if there is no interval.
    """

    seeds: int
    missing: bool
    width: float | None = None


def looks(plan: Plan, store: "Store") -> dict[str, Look]:
    """Return the state of each point, by its key."""
    from incast.results import Results

    precision = plan.precision
    if precision is None:
        return {}
    active = {point.key: point for _, point in plan.distinct}
    found: dict[str, Look] = {}
    for number in precision.looks:
        seeds = precision.seeds(plan.seeds, number)
        part = replace(plan, points=list(active.values()), seeds=seeds)
        for job in part.runs():
            if job.point.key in active and not store.has(job):
                found[job.point.key] = Look(number, missing=True)
                del active[job.point.key]
        if not active:
            break
        part = replace(part, points=list(active.values()))
        summary = Results(part, store).summary()
        for point, mean, low, high in summary.select(
            "point", _OF, f"{_OF}{LOW}", f"{_OF}{HIGH}"
        ).iter_rows():
            width = max(high - mean, mean - low) / mean if mean and low is not None else None
            if width is None or width <= precision.target or number == precision.looks[-1]:
                key = part.points[point].key
                found[key] = Look(number, missing=False, width=width)
                del active[key]
        if not active:
            break
    return found


def notes(results: "Results") -> list[str]:
    """Report how many points reach the precision, and which points miss it with all seeds."""
    plan, precision = results.plan, results.plan.precision
    if precision is None:
        return []
    state = looks(plan, results.store)
    points = {point.key: point.swept for _, point in plan.distinct}
    done = {key: look for key, look in state.items() if not look.missing}
    wide = {key: look.width for key, look in done.items() if (look.width or 0) > precision.target}
    reached = [key for key, look in done.items() if look.width is not None and key not in wide]
    target = units.percent(precision.target)
    text = (
        f"Precision of {target}: reached at {len(reached)} of {units.plural(len(points), 'point')}"
    )
    if done:
        numbers = sorted(look.seeds for look in done.values())
        span = f"{numbers[0]} to " if numbers[0] != numbers[-1] else ""
        text += f", with {span}{numbers[-1]} seeds"
    lines = [f"{text}."]
    if wide:
        told = [
            f"{label_of(dict(points[key])) or 'the point'} (±{100 * (width or 0):.1f} %)"
            for key, width in list(wide.items())[:_NAMED]
        ]
        more = f" and {len(wide) - _NAMED} more" if len(wide) > _NAMED else ""
        lines.append(
            f"Not reached with {precision.most} seeds (run.most_seeds): {', '.join(told)}{more}."
        )
    without = sum(look.width is None for look in done.values())
    if without:
        lines.append(
            f"{units.plural(without, 'point')} without an interval: fewer than two runs finished."
        )
    return lines
