"""Theoretical models of a scenario, and the list of these models.

    from incast import models

    models.MODELS["overflow"].answer(scenario.plan.points[0])

The equations are plain functions of numbers or NumPy arrays, with one file per idea. The registry
applies the equations to scenarios.
"""

from typing import TYPE_CHECKING, Any

from incast.models.registry import (
    COLUMNS,
    MODELS,
    Answer,
    Measure,
    Model,
    NotApplicable,
    Question,
    find,
)

if TYPE_CHECKING:
    from incast.models.estimation import ask, estimate

__all__ = [
    "COLUMNS",
    "MODELS",
    "Answer",
    "Measure",
    "Model",
    "NotApplicable",
    "Question",
    "ask",
    "estimate",
    "find",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (the module's attributes have no common type)
    if name in {"ask", "estimate"}:
        from incast.models.estimation import runs

        return getattr(runs, name)
    raise AttributeError(f"module 'incast.models' has no attribute {name!r}")
