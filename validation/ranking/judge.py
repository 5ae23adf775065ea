"""Shares of scenarios in which a remedy is close to the ideal, with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from validation.ranking.parties import GROUPS
from validation.ranking.rows import rows

if TYPE_CHECKING:
    from validation.ranking.draw import Drawn
    from validation.ranking.table import Shares

LEVELS = (0.9, 0.8, 0.5)
_Z = 1.959964  # standard normal quantile for 95 %


@dataclass(frozen=True)
class Interval:
    """A share of scenarios with Wilson's 95 % interval (Wilson 1927), from 0 to 1."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """The shares of scenarios in which one row, or the best of several, reaches the `LEVELS`.

    A level is a value of the ideal completion time divided by the simulated completion time.
    """

    label: str
    kept: tuple[Interval, ...]


@dataclass(frozen=True)
class Group:
    """The rows for which the same parties must change, the best row first."""

    title: str
    standings: list[Standing]
    best: Standing
    """The standing if, for each scenario, the group's best row in this scenario is chosen."""


@dataclass(frozen=True)
class Ranking:
    """Every group, and the best of all rows."""

    scenarios: list[Drawn]
    groups: list[Group]
    best: Standing
    reached: np.ndarray
    """For each scenario, the best row's ideal time divided by the simulated time."""
    above: dict[str, int]
    """By the label of each row, the number of scenarios in which it is faster than the ideal."""


def wilson(hits: int, count: int) -> Interval:
    """Return the share of hits with Wilson's 95 % interval."""
    share = hits / count
    scale = 1 + _Z**2 / count
    centre = (share + _Z**2 / (2 * count)) / scale
    half = _Z * sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2) / scale
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))


def judge(known: list[tuple[Drawn, Shares]]) -> Ranking:
    """Rank the rows by the scenarios that have been simulated with all rows."""
    shares = {row: np.array([kept[row.label] for _, kept in known]) for row in rows()}
    groups = []
    for name, title in GROUPS.items():
        mine = {row.label: values for row, values in shares.items() if row.group == name}
        if mine:
            standings = [_standing(label, values) for label, values in mine.items()]
            standings.sort(key=lambda one: [kept.share for kept in one.kept], reverse=True)
            best = _standing("the best of these", np.max(list(mine.values()), axis=0))
            groups.append(Group(title, standings, best))
    reached = np.max(list(shares.values()), axis=0)
    scenarios = [drawn for drawn, _ in known]
    above = {row.label: int((values > 1).sum()) for row, values in shares.items()}
    return Ranking(scenarios, groups, _standing("the best of all", reached), reached, above)


def _standing(label: str, shares: np.ndarray) -> Standing:
    kept = (wilson(int((shares >= level).sum()), len(shares)) for level in LEVELS)
    return Standing(label, tuple(kept))
