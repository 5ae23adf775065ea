"""Models asked about a whole plan: rows beside each other, and who does not apply, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from incast.errors import ModelError
from incast.models.registry import MODELS, Answer, NotApplicable, Question, find
from incast.scenario.plan import Plan
from incast.scenario.resolved import Resolved


@dataclass(frozen=True)
class Theory:
    """What models say of a plan.

    Parameters
    ----------
    plan
        What was asked about.
    frame
        A row per model and point that it applies to: `point`, the swept keys, `model`, and the
        columns of the answers (`incast.models.COLUMNS` and the models' own).
    refusals
        Model to the reason why it applies to no point, or to how many it does not.
    """

    plan: Plan
    frame: pl.DataFrame
    refusals: dict[str, str]


def ask(plan: Plan, names: Sequence[str] = ()) -> Theory:
    """Ask models about every point of a plan.

    Parameters
    ----------
    plan
        The points; seeds do not matter.
    names
        The models to ask; by default all.

    Raises
    ------
    ModelError
        There is no model of such a name, or none of those named applies to any point.
    """
    models = [find(name) for name in names] or list(MODELS.values())
    questions = [Question(Resolved(point.resolved)) for point in plan.points]
    rows: list[dict[str, object]] = []
    refusals = {}
    for model in models:
        answers = model.answer_many(questions)
        rows += _rows(plan, model.name, answers)
        reasons = [answer.reason for answer in answers if isinstance(answer, NotApplicable)]
        if len(reasons) == len(answers):
            refusals[model.name] = reasons[0]
        elif reasons:
            refusals[model.name] = f"at {len(reasons)} of {len(answers)} points: {reasons[0]}"
    if names and not rows:
        raise ModelError(f"{names[0]} does not apply: {refusals[names[0]]}")
    return Theory(plan, pl.DataFrame(rows, infer_schema_length=None), refusals)


def _rows(plan: Plan, model: str, answers: Sequence[Answer]) -> list[dict[str, object]]:
    return [
        {"point": index, **point.swept, "model": model, **answer}
        for index, (point, answer) in enumerate(zip(plan.points, answers, strict=True))
        if not isinstance(answer, NotApplicable)
    ]
