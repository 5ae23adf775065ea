"""Shares of scenarios in which a remedy keeps a share of the ideal, with their intervals."""

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
    """Shares of scenarios in which one row, or the best of several, keeps each of the `LEVELS`."""

    label: str
    kept: tuple[Interval, ...]


@dataclass(frozen=True)
class Group:
    """The rows for which the same parties must change, the best first."""

    title: str
    standings: list[Standing]
    best: Standing
    """Shares that are reached if the group's best row is chosen anew for each scenario."""


@dataclass(frozen=True)
class Ranking:
    """Every group, and the best of all rows."""

    scenarios: list[Drawn]
    groups: list[Group]
    best: Standing
    reached: np.ndarray
    """The best share of the ideal in each scenario."""
    above: dict[str, int]
    """For the label of each row: in how many scenarios the row is faster than the ideal."""


def wilson(hits: int, count: int) -> Interval:
    """Return the share of hits with Wilson's 95 % interval."""
    share = hits / count
    scale = 1 + _Z**2 / count
    centre = (share + _Z**2 / (2 * count)) / scale
    half = _Z * sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2) / scale
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))


def judge(known: list[tuple[Drawn, Shares]]) -> Ranking:
    """Rank the rows on the scenarios that every row has run."""
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
