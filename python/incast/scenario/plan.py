"""The plan of a scenario: its points, its seeds, and the key of every run."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

from incast import units

Value = str | int | float | bool


@dataclass(frozen=True)
class Point:
    """One combination of the swept values.

    Parameters
    ----------
    swept
        Dotted key to value, in columns of one type each (see `Plan.from_tree`).
    resolved
        The whole scenario at this point: every key, in base units.
    """

    swept: dict[str, Value]
    resolved: dict[str, Any]

    @cached_property
    def identity(self) -> str:
        """Canonical text of what a run depends on: all but the title and the list of seeds."""
        resolved = {key: value for key, value in self.resolved.items() if key != "title"}
        resolved["run"] = {k: v for k, v in resolved.get("run", {}).items() if k != "seeds"}
        return _canonical(resolved)

    @property
    def text(self) -> str:
        """JSON text of the resolved scenario for one run: without the list of all seeds."""
        return json.dumps(self.resolved | {"run": self.resolved["run"] | {"seeds": 1}})

    @cached_property
    def digest(self) -> blake2b:
        """The hash of the identity, to which a run adds its own: the seeds of a point share it."""
        return blake2b(f"[{_canonical(self.identity)},".encode(), digest_size=16)

    @cached_property
    def key(self) -> str:
        """A name of the point: the same for two points at which runs are the same."""
        return self.digest.hexdigest()


@dataclass(frozen=True)
class Job:
    """One run to do: a point at a seed.

    Parameters
    ----------
    index
        The place of the point in the plan.
    point, seed
        What to run.
    engine
        The version of the engine that runs it.
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
    """Everything that a scenario asks for.

    Parameters
    ----------
    points
        At least one point, in the order of the sweep.
    seeds
        The seeds at which every point is run.
    engine
        The version of the engine that runs them.
    """

    points: list[Point]
    seeds: list[int]
    engine: str

    @classmethod
    def from_tree(cls, tree: dict[str, Any], engine: str) -> "Plan":
        """Take the plan that the core of version `engine` made.

        Values of one swept key become one type, so that they make a column: numbers stay
        numbers when all are, and everything else becomes text (a table its compact JSON).
        """
        swept = [point["swept"] for point in tree["points"]]
        columns = {key: _one_type([values[key] for values in swept]) for key in swept[0]}
        return cls(
            [
                Point({key: columns[key][i] for key in columns}, point["resolved"])
                for i, point in enumerate(tree["points"])
            ],
            tree["seeds"],
            engine,
        )

    @classmethod
    def from_core(
        cls, tables: list[str], points: list[str], seeds: list[int], engine: str
    ) -> "Plan":
        """Take the plan as the core writes it: points share the tables that they have alike."""
        shared = [json.loads(table) for table in tables]
        tree = []
        for text in points:
            point = json.loads(text)
            resolved = {key: shared[number] for key, number in point["resolved"].items()}
            tree.append({"swept": point["swept"], "resolved": resolved})
        return cls.from_tree({"points": tree, "seeds": seeds}, engine)

    @property
    def swept(self) -> list[str]:
        """The swept keys, slowest first."""
        return list(self.points[0].swept)

    @property
    def title(self) -> str:
        """The scenario's title, on one line."""
        return units.plain(str(self.points[0].resolved.get("title", "")))

    @property
    def fingerprint(self) -> str:
        """A hash of the points: two plans that share it differ in seeds and title at most."""
        text = _canonical([[point.swept, point.identity] for point in self.points])
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def jobs(self) -> Iterator[Job]:
        """Yield the runs, seed by seed, so that an interrupted sweep has whole curves."""
        for seed in self.seeds:
            for index, point in enumerate(self.points):
                yield Job(index, point, seed, self.engine)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as the tree from which `from_tree` takes it."""
        points = [{"swept": point.swept, "resolved": point.resolved} for point in self.points]
        return {"points": points, "seeds": self.seeds}


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _one_type(values: list[Any]) -> list[Value]:
    if all(isinstance(value, bool) for value in values):
        return values
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        whole = all(isinstance(value, int) for value in values)
        return values if whole else [float(value) for value in values]
    return [value if isinstance(value, str) else _canonical(value) for value in values]
