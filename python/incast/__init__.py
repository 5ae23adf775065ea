"""A laboratory for TCP incast.

A *scenario* describes the network, the switch, the traffic and the transport. Running a scenario
gives *results*: one row per seed and point of the sweep, in SI units.

    import incast

    scenario = incast.load("scenarios/storage-read.toml")
    results = incast.run(scenario)
    results.summary()           # mean and 95 % confidence interval per point
    results.plot.goodput()      # a matplotlib figure

Each module is imported when it is first used, so that `import incast` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incast._core import ScenarioError
    from incast.errors import ResultsError
    from incast.outcome import Results, open_results
    from incast.scenario import Scenario, load
    from incast.sweep import Interrupted, run

__all__ = [
    "Interrupted",
    "Results",
    "ResultsError",
    "Scenario",
    "ScenarioError",
    "load",
    "open_results",
    "run",
]

_HOMES = {
    "Interrupted": "incast.sweep",
    "Results": "incast.outcome",
    "ResultsError": "incast.errors",
    "Scenario": "incast.scenario",
    "ScenarioError": "incast._core",
    "load": "incast.scenario",
    "open_results": "incast.outcome",
    "run": "incast.sweep",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 (the module's attributes have no common type)
    if name == "__version__":
        from importlib.metadata import version

        return version("incast")
    if name not in _HOMES:
        raise AttributeError(f"module 'incast' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
