"""A sweep of another key than the number of servers: one answer for each of its values."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incast import _core
from incast.advise.advice import Advice
from incast.advise.adviser import BUDGET_S, advise
from incast.advise.case import SERVERS
from incast.scenario import Scenario, load

MOST = 24
"""Values for which there is an answer at most."""


def values_of(scenario: Scenario) -> list[tuple[str, Scenario]]:
    """Return the scenario with each value of its sweep, and what the value is called.

    A sweep over servers only is one answer, without a name.

    Raises
    ------
    ScenarioError
        There are more values than `MOST`.
    """
    found: dict[str, Scenario] = {}
    for point in scenario.plan.points:
        swept = {key: value for key, value in point.swept.items() if key != SERVERS}
        name = ", ".join(f"{key} = {value}" for key, value in swept.items())
        if name in found:
            continue
        if len(found) == MOST:
            raise scenario.error(
                _core.ScenarioError(
                    f"sweep: advice is for each value, and these are more than {MOST}; fix a key "
                    f"with --set {next(iter(swept))}=…"
                )
            )
        one = scenario
        for key, value in swept.items():
            one = one.override(key, value)
        found[name] = one
    return list(found.items())


def advise_each(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    budget: float | None = BUDGET_S,
    **options: Any,
) -> list[tuple[str, Advice]]:
    """Return what to change with each value of a sweep, and what the value is called.

    The time is divided among the values. The other options, and what is raised, are those of
    `advise`.

    Raises
    ------
    ScenarioError
        The sweep has more than `MOST` values.
    """
    each = values_of(scenario if isinstance(scenario, Scenario) else load(scenario))
    share = None if budget is None else budget / len(each)
    return [(name, advise(one, budget=share, **options)) for name, one in each]
