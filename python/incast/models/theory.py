"""Answers of models for a whole plan, and the reasons why other models do not apply."""

from collections.abc import Sequence
from dataclasses import dataclass
from re import sub

import polars as pl

from incast import units
from incast.errors import ModelError
from incast.models.registry import MODELS, Answer, NotApplicable, Question, find
from incast.scenario.plan import Plan

_FITS, _COLLAPSED = "overflow.safe_servers", "collapse.collapsed"


@dataclass(frozen=True)
class Theory:
    """The models' answers for a plan.

    Parameters
    ----------
    plan
        The plan.
    frame
        One row for each model and each point to which the model applies. The columns are `point`,
        the swept keys, `model`, and the columns of the answers (`incast.models.COLUMNS` and the
        models' own numbers).
    refusals
        For each model that does not apply to all points: the model's name, and the reason. If the
        reasons differ, or if the model applies to some points, each reason is given with the number
        of points.
    """

    plan: Plan
    frame: pl.DataFrame
    refusals: dict[str, str]

    def trust(self) -> dict[str, str]:
        """Return the descriptions of the models' uncertainties, by the models' names."""
        answered = self.frame["model"].unique(maintain_order=True) if self.frame.height else ()
        told = {
            name: MODELS[name].say(self.frame.filter(pl.col("model") == name)) for name in answered
        }
        return {name: line for name, line in told.items() if line}

    def first_burst_only(self) -> str:
        """Say at which points reads collapse although their first burst fits; empty if at none.

        Such a collapse is no contradiction, because windows grow after the first burst.
        """
        if self.frame.height == 0 or not {_FITS, _COLLAPSED} <= set(self.frame.columns):
            return ""
        by_point = self.frame.group_by("point").agg(pl.col(_FITS).max(), pl.col(_COLLAPSED).max())
        servers = [self.plan.points[point].here.servers for point in by_point["point"]]
        both = by_point.with_columns(pl.Series("servers", servers, dtype=pl.Int64)).filter(
            (pl.col(_COLLAPSED) == 1) & (pl.col("servers") <= pl.col(_FITS))
        )
        if both.is_empty():
            return ""
        least, fits = both.sort("servers").select("servers", _FITS).row(0)
        return (
            f"overflow describes only the first burst, which fits with up to {fits:.0f} servers. "
            f"Windows grow later, and collapse predicts a collapse with {least} servers."
        )

    def beside(self, summary: pl.DataFrame) -> list[str]:
        """Say at which points models and runs differ by more than the models' factors.

        Parameters
        ----------
        summary
            Means of the runs, with the columns `point` and `goodput_bps`.
        """
        lines = []
        for name in self.trust():
            rows = self.frame.filter(pl.col("model") == name)
            both = rows.join(
                summary.select(
                    pl.col("point").cast(rows["point"].dtype),
                    pl.col("goodput_bps").alias("simulated"),
                ).filter(pl.col("simulated") > 0),
                on="point",
            )
            off = (pl.col("goodput_bps").log() - pl.col("simulated").log()).abs()
            far = both.filter(off > pl.col(f"{name}.factor").log())
            lines += self._compared(name, both, far)
        return lines

    def _compared(self, name: str, both: pl.DataFrame, far: pl.DataFrame) -> list[str]:
        """Return the number of points where model and runs agree, and a line per disagreement."""
        if both.is_empty():
            return []
        told = (
            f"{name} agrees with the runs at {both.height - far.height} of the {both.height} points"
        )
        if far.is_empty():
            return [f"{told} that it predicts."]
        lines = [f"{told} that it predicts; it differs at"]
        for row in far.to_dicts():
            where = ", ".join(f"{key.split('.')[-1]} = {row[key]}" for key in self.plan.swept)
            expects, found = units.rate(row["goodput_bps"]), units.rate(row["simulated"])
            lines.append(
                f"  {where + ': ' if where else ''}predicted {expects}, simulated {found} "
                f"(expected within a factor of {row[f'{name}.factor']:.2f})"
            )
        return lines


def ask(plan: Plan, names: Sequence[str] = ()) -> Theory:
    """Ask models about every point of a plan.

    Parameters
    ----------
    plan
        The points; the seeds are ignored.
    names
        Names of the models; by default all models.

    Raises
    ------
    ModelError
        A model does not exist, or no named model applies to any point.
    """
    models = [find(name) for name in names] or list(MODELS.values())
    questions = [Question(point.here) for point in plan.points]
    rows: list[dict[str, object]] = []
    refusals = {}
    for model in models:
        answers = model.answer_many(questions)
        rows += _rows(plan, model.name, answers)
        reasons = [answer.reason for answer in answers if isinstance(answer, NotApplicable)]
        if len(set(reasons)) == 1 and len(reasons) == len(answers):
            refusals[model.name] = reasons[0]
        elif reasons:
            refusals[model.name] = _counted(reasons, len(answers))
    if names and not rows:
        raise ModelError(f"{names[0]} does not apply: {refusals[names[0]]}")
    return Theory(plan, pl.DataFrame(rows, infer_schema_length=None), refusals)


def _counted(reasons: list[str], points: int) -> str:
    """Return the reasons, the most frequent first; merge reasons that differ only in numbers."""
    kinds: dict[str, list[str]] = {}
    for reason in reasons:
        kinds.setdefault(sub(r"[0-9.]+", "#", reason), []).append(reason)
    told = sorted(kinds.values(), key=len, reverse=True)
    return "; ".join(f"at {len(alike)} of {points} points: {alike[0]}" for alike in told)


def _rows(plan: Plan, model: str, answers: Sequence[Answer]) -> list[dict[str, object]]:
    return [
        {"point": index, **point.swept, "model": model, **answer}
        for index, (point, answer) in enumerate(zip(plan.points, answers, strict=True))
        if not isinstance(answer, NotApplicable)
    ]
