"""Conditions on results: `--fail-if`, evaluated point by point."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

from incast import units
from incast.errors import ColumnError, ConditionError
from incast.results import Results
from incast.results.collapse import at_points
from incast.results.columns import known, resolve
from incast.results.series import label_of

COLLAPSE, UNFINISHED = "collapse", "unfinished"
_COMPARED = re.compile(r"\s*([\w.]+)\s*(<=|>=|<|>)\s*(\S+(?: \S+)?)\s*")
_SIGNS = {"<": lt, "<=": le, ">": gt, ">=": ge}
_FORM = (
    "must be collapse, unfinished, or a column, an operator and a value in quotes, e.g. 'p99>5ms'"
)
_TOTAL = "all"


@dataclass(frozen=True)
class Condition:
    """A condition under which a command fails.

    Parameters
    ----------
    text
        The condition as the user wrote it.
    column
        The column of the summary that is compared; empty for `collapse` and `unfinished`.
    sign, bound
        The operator and the value, in the unit of the column.
    """

    text: str
    column: str = ""
    sign: str = ""
    bound: float = 0.0

    def holds(self, row: dict[str, Any], *, fallen: bool) -> tuple[bool, str]:
        """Return whether the condition is true at a point, and a text on the point's value.

        A point without a finished run has no numbers and fails.
        """
        if self.text == UNFINISHED:
            return row["ok"] < row["runs"], row["status"]
        if not row["ok"]:
            return True, f"no run finished: {row['status']}"
        if self.text == COLLAPSE:
            return fallen, "collapsed" if fallen else "no collapse"
        value = row.get(self.column)
        if value is None:
            return False, f"{self.column} has no value"
        return _SIGNS[self.sign](value, self.bound), f"{self.column} is {_written(self, value)}"


@dataclass(frozen=True)
class Finding:
    """A condition at one point of one group.

    Parameters
    ----------
    condition
        The condition; None if the question is only whether a run finished.
    where
        The point, and the group if it is not `all`.
    holds, told
        Whether the condition is true, and the value on which this depends.
    """

    condition: Condition | None
    where: str
    holds: bool
    told: str


def parse(texts: Iterable[str]) -> list[Condition]:
    """Parse conditions. One string may contain several conditions, separated by `|`.

    Raises
    ------
    ConditionError
        A condition is not valid. The message says what a condition must be.
    """
    parts = [part.strip() for text in texts for part in text.split("|")]
    return [_condition(part) for part in dict.fromkeys(parts)]


def judge(
    conditions: Sequence[Condition], results: Results, groups: Sequence[str] = (_TOTAL,)
) -> list[Finding]:
    """Evaluate the conditions at every point; without conditions, check that a run finished.

    `collapse` applies only to the group `all`.
    """
    found = []
    for group in groups:
        summary = results.summary(group)
        fallen = at_points(summary, results.resolved) if group == _TOTAL else []
        for index, row in enumerate(summary.to_dicts()):
            where = label_of({key: row[key] for key in results.plan.swept}) or "the only point"
            where = where if group == _TOTAL else f"{group}, {where}"
            for condition in conditions:
                if condition.text == COLLAPSE and group != _TOTAL:
                    continue
                bad = bool(fallen) and fallen[index]
                found.append(Finding(condition, where, *condition.holds(row, fallen=bad)))
            if not conditions:
                found.append(Finding(None, where, not row["ok"], row["status"]))
    return found


def _condition(text: str) -> Condition:
    if text in {COLLAPSE, UNFINISHED}:
        return Condition(text)
    compared = _COMPARED.fullmatch(text)
    if compared is None:
        raise ConditionError(f"{text!r}: {_FORM}")
    name, sign, value = compared.groups()
    try:
        column = resolve(name, known())
        return Condition(text, column, sign, units.quantity(value, units.kind_of(column)))
    except (ColumnError, units.QuantityError) as error:
        raise ConditionError(f"{text!r}: {error}") from None


def _written(condition: Condition, value: float) -> str:
    """Write a value in the unit of its bound, with enough digits to distinguish the two."""
    kind = units.kind_of(condition.column)
    if kind not in {"rate", "time"}:
        return f"{value:g}"
    write = units.rate if kind == "rate" else units.time
    return f"{value:g}" if write(value) == write(condition.bound) else write(value)
