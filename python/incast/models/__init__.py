"""What theory says of a scenario: closed forms, and the one list of them.

    from incast import models

    models.MODELS["overflow"].answer(scenario.plan.points[0].resolved)

The equations themselves are plain functions of numbers or NumPy arrays, one file per idea; the
registry asks them about scenarios.
"""

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

__all__ = ["COLUMNS", "MODELS", "Answer", "Measure", "Model", "NotApplicable", "Question", "find"]
