"""`run.precision`: more seeds where the interval of a mean is wide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from incast._core import ScenarioError

TARGET, MOST = "precision", "most_seeds"
DEFAULT_MOST = 400
_FEWEST, _LARGEST = 2, 1_000_000  # seeds; a single value has no spread

KEYS: dict[str, dict[str, Any]] = {
    TARGET: {
        "description": "Target for the 95 % confidence interval of the goodput: each point runs "
        "more seeds until each half of the interval is at most this share of the mean. By default "
        "every point runs the seeds of `seeds` only.",
        "type": "number",
        "exclusiveMinimum": 0.0,
        "exclusiveMaximum": 1.0,
    },
    MOST: {
        "description": "Maximum number of seeds per point with `precision`.",
        "type": "integer",
        "minimum": _FEWEST,
        "maximum": _LARGEST,
        "default": DEFAULT_MOST,
    },
}
"""The keys of `[run]` that set the number of runs, and do not change the result of any run."""


@dataclass(frozen=True)
class Precision:
    """The rule that decides when a point has enough seeds.

    Parameters
    ----------
    target
        The largest distance between the mean and an end of its interval, as a share of the mean.
    first, most
        The number of seeds that a point has at first, and the maximum.
    """

    target: float
    first: int
    most: int

    @property
    def looks(self) -> list[int]:
        """The numbers of seeds at which a point may stop: each is twice the previous number."""
        numbers = [self.first]
        while numbers[-1] < self.most:
            numbers.append(min(2 * numbers[-1], self.most))
        return numbers

    def seeds(self, given: Sequence[int], number: int) -> list[int]:
        """Return `number` seeds: the first seeds of a plan, then the smallest other numbers."""
        first = list(given[: self.first])
        taken = set(first)
        return [*first, *islice((n for n in count(1) if n not in taken), number - len(first))]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a tree that `from_tree` reads."""
        return {"target": self.target, "first": self.first, "most": self.most}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> "Precision":
        """Make the rule from the tree in a manifest."""
        return cls(float(tree["target"]), int(tree["first"]), int(tree["most"]))


def valid(tree: object) -> bool:
    """Return whether a part of a manifest is a valid precision."""
    if not isinstance(tree, dict):
        return False
    first, most, target = (tree.get(key) for key in ("first", "most", "target"))
    return (
        isinstance(first, int)
        and isinstance(most, int)
        and _FEWEST <= first <= most <= _LARGEST
        and isinstance(target, float)
        and 0 < target < 1
    )


def without(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document without `KEYS`, in the form that the core reads."""
    run = document.get("run")
    if not isinstance(run, dict) or run.keys().isdisjoint(KEYS):
        return document
    rest = {key: value for key, value in run.items() if key not in KEYS}
    return {**document, "run": rest}


def of(document: Mapping[str, Any], seeds: int) -> Precision | None:
    """Return the precision of a document with this number of `seeds`; None if no precision is set.

    Raises
    ------
    ScenarioError
        A value is not valid.
    """
    run = document.get("run")
    if not isinstance(run, dict) or run.keys().isdisjoint(KEYS):
        return None
    target, most = run.get(TARGET), run.get(MOST, max(DEFAULT_MOST, seeds))
    if target is None:
        raise ScenarioError(
            f"run.{MOST}: has no effect without run.{TARGET}; set run.{TARGET}, e.g. to 0.02"
        )
    if isinstance(target, bool) or not isinstance(target, int | float):
        raise ScenarioError(f"run.{TARGET}: {target!r} is not a number; write e.g. 0.02 for 2 %")
    if not 0 < target < 1:
        raise ScenarioError(f"run.{TARGET}: {target} is out of range; must be above 0 and below 1")
    if isinstance(most, bool) or not isinstance(most, int):
        raise ScenarioError(f"run.{MOST}: {most!r} is not a whole number; write e.g. 400")
    if not seeds <= most <= _LARGEST:
        raise ScenarioError(
            f"run.{MOST}: {most} is out of range; must be {seeds} (the seeds of run.seeds) to "
            f"{_LARGEST}"
        )
    if seeds < _FEWEST:
        raise ScenarioError(
            f"run.seeds: must be at least {_FEWEST} with run.{TARGET}, because a single seed has "
            "no interval"
        )
    return Precision(float(target), seeds, most)
