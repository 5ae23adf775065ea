"""The plan of a scenario: its points, its seeds, and the key of every run."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

from incast import _core, units
from incast.scenario.precision import Precision
from incast.scenario.resolved import Resolved

Value = str | int | float | bool


@dataclass(frozen=True)
class Point:
    """One combination of the swept values.

    Parameters
    ----------
    swept
        Values by dotted key. A key has values of the same type at all points (see `Plan.of`).
    resolved
        The whole scenario at this point: every key, in base units.
    ready
        The same scenario as the core has read it; by default the core reads it when needed.
    """

    swept: dict[str, Value]
    resolved: dict[str, Any]
    ready: _core.Scenario | None = field(default=None, repr=False, compare=False)

    @cached_property
    def scenario(self) -> _core.Scenario:
        """The scenario as the core runs it, at any seed."""
        return self.ready or _core.Scenario(self.identity)

    @property
    def here(self) -> Resolved:
        """The quantities that follow from the scenario."""
        return Resolved(self.resolved, self.scenario)

    @cached_property
    def identity(self) -> str:
        """Canonical text of all keys on which a run depends, without the title and the seeds."""
        resolved = {key: value for key, value in self.resolved.items() if key != "title"}
        resolved["run"] = {k: v for k, v in resolved.get("run", {}).items() if k != "seeds"}
        return _canonical(resolved)

    @cached_property
    def digest(self) -> blake2b:
        """The hash of the identity, to which each run adds its seed and its engine."""
        return blake2b(f"[{_canonical(self.identity)},".encode(), digest_size=16)

    @cached_property
    def key(self) -> str:
        """A name of the point; two points with the same runs have the same name."""
        return self.digest.hexdigest()


@dataclass(frozen=True)
class Job:
    """One run to simulate: a point at a seed.

    Parameters
    ----------
    index
        The index of the point in the plan.
    point, seed
        The point and the seed to run.
    engine
        The version of the engine that makes the run.
    """

    index: int
    point: Point
    seed: int
    engine: str

    @cached_property
    def key(self) -> str:
        """The name under which the run is stored: a hash of all that it depends on."""
        digest = self.point.digest.copy()
        digest.update(f"{self.seed},{_canonical(self.engine)}]".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Plan:
    """The points and seeds of a scenario.

    Parameters
    ----------
    points
        At least one point, in the order of the sweep.
    seeds
        The seeds at which every point is run.
    engine
        The version of the engine that runs the points.
    precision
        The rule that decides when a point has enough seeds; None if all points have the same seeds.
    """

    points: list[Point]
    seeds: list[int]
    engine: str
    precision: Precision | None = None

    @classmethod
    def of(
        cls,
        points: list[Point],
        seeds: list[int],
        engine: str,
        precision: Precision | None = None,
    ) -> "Plan":
        """Make a plan of points and seeds that the core of version `engine` has resolved.

        The values of a swept key get one type, so that they form a column. The values stay
        numbers if all are numbers, and flags if all are flags. Otherwise the values become strings;
        a table becomes compact JSON.
        """
        columns = {key: _one_type([it.swept[key] for it in points]) for key in points[0].swept}
        typed = [
            replace(point, swept={key: column[i] for key, column in columns.items()})
            for i, point in enumerate(points)
        ]
        return cls(typed, seeds, engine, precision)

    @classmethod
    def from_tree(cls, tree: dict[str, Any], engine: str) -> "Plan":
        """Make the plan from a tree that `to_dict` has returned."""
        points = [Point(point["swept"], point["resolved"]) for point in tree["points"]]
        told = tree.get("precision")
        precision = Precision.from_tree(told) if told is not None else None
        return cls.of(points, tree["seeds"], engine, precision)

    @property
    def swept(self) -> list[str]:
        """The swept keys; the key that changes most slowly comes first."""
        return list(self.points[0].swept)

    @property
    def title(self) -> str:
        """The scenario's title, on one line."""
        return units.plain(str(self.points[0].resolved.get("title", "")))

    @property
    def fingerprint(self) -> str:
        """A hash of the points; plans with the same hash differ at most in seeds and title."""
        text = _canonical([[point.swept, point.identity] for point in self.points])
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def jobs(self) -> Iterator[Job]:
        """Yield the runs, seed by seed, so that an interrupted sweep has whole curves."""
        for seed in self.seeds:
            for index, point in enumerate(self.points):
                yield Job(index, point, seed, self.engine)

    def jobs_of(self, points: range) -> Iterator[Job]:
        """Yield the runs of the points with these indices, point by point."""
        for index in points:
            for seed in self.seeds:
                yield Job(index, self.points[index], seed, self.engine)

    @cached_property
    def distinct(self) -> list[tuple[int, Point]]:
        """The points without duplicates, each with its index in the plan.

        Points are equal if they have the same runs. If several points are equal, the list has the
        last of these points, at the position of the first.
        """
        found = {point.key: (index, point) for index, point in enumerate(self.points)}
        return list(found.values())

    def runs(self, some: range | None = None) -> Iterator[Job]:
        """Yield the different runs in the order of `jobs`; `some` selects runs by their indices."""
        points = self.distinct
        for number in range(len(points) * len(self.seeds)) if some is None else some:
            seed, place = divmod(number, len(points))
            yield Job(*points[place], self.seeds[seed], self.engine)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as a tree that `from_tree` reads."""
        points = [{"swept": point.swept, "resolved": point.resolved} for point in self.points]
        tree: dict[str, Any] = {"points": points, "seeds": self.seeds}
        if self.precision is not None:
            tree["precision"] = self.precision.to_dict()
        return tree


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _one_type(values: list[Any]) -> list[Value]:
    if all(isinstance(value, bool) for value in values):
        return values
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        whole = all(isinstance(value, int) for value in values)
        return values if whole else [float(value) for value in values]
    return [value if isinstance(value, str) else _canonical(value) for value in values]
