"""Advice for a sweep over a key other than the number of servers: one answer per value."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incast import _core
from incast.advise.advice import Advice
from incast.advise.adviser import BUDGET_S, advise
from incast.advise.case import SERVERS
from incast.scenario import Scenario, load

MOST = 24
"""The largest number of values for which there are answers."""


def values_of(scenario: Scenario) -> list[tuple[str, Scenario]]:
    """Return a name for each value of a sweep, and the scenario with this value.

    A sweep over the number of servers alone has one entry, whose name is empty.

    Raises
    ------
    ScenarioError
        The sweep has more than `MOST` values.
    """
    found: dict[str, Scenario] = {}
    for point, step in zip(scenario.plan.points, scenario.steps, strict=True):
        swept = {key: value for key, value in step.items() if key != SERVERS}
        name = ", ".join(f"{key} = {point.swept[key]}" for key in swept)
        if name in found:
            continue
        if len(found) == MOST:
            raise scenario.error(
                _core.ScenarioError(
                    f"sweep: has more than {MOST} values, each of which needs advice; give a key "
                    f"one value with --set {next(iter(swept))}=…"
                )
            )
        one = scenario
        for key, value in swept.items():
            # A list would become the key's new axis. Setting another value first ends the sweep.
            one = (one.override(key, "") if isinstance(value, list) else one).override(key, value)
        found[name] = one
    return list(found.items())


def advise_each(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    budget: float | None = BUDGET_S,
    **options: Any,
) -> list[tuple[str, Advice]]:
    """Return a name for each value of a sweep, and the advice for the scenario with this value.

    The budget is divided among the values. The other options and the exceptions are those of
    `advise`.

    Raises
    ------
    ScenarioError
        The sweep has more than `MOST` values.
    """
    each = values_of(scenario if isinstance(scenario, Scenario) else load(scenario))
    share = None if budget is None else budget / len(each)
    return [(name, advise(one, budget=share, **options)) for name, one in each]
