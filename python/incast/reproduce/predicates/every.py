"""`every`: several tests for one sentence about several curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from incast.errors import FigureError
from incast.reproduce.data import Curves
from incast.reproduce.predicates.finding import Finding, Predicate
from incast.reproduce.strict import choose, refuse_unknown, take


@dataclass(frozen=True)
class Every:
    """Whether all parts hold, for a sentence of the text that speaks of several curves.

    Parameters
    ----------
    parts
        Tables, each with a `test` (by default `compare`) and the keys of the test.
    """

    parts: list[Predicate]

    @classmethod
    def from_toml(cls, value: object, where: str) -> "Every":
        """Build each part from its table."""
        if not isinstance(value, Mapping):
            raise FigureError(f"{where}: {value!r} is not a table")
        refuse_unknown(value, {"parts": None}, where)
        parts = value.get("parts")
        if not isinstance(parts, list) or not parts:
            raise FigureError(f"{where}: parts must be at least one table")
        return cls([_part(one, f"{where}: parts[{i}]") for i, one in enumerate(parts)])

    def series(self) -> set[str]:
        """Return the labels of all parts."""
        return set().union(*(one.series() for one in self.parts))

    def judge(self, curves: Curves) -> Finding:
        """Judge each part."""
        found = [one.judge(curves) for one in self.parts]
        said = "; ".join(f"{'' if one.holds else 'not: '}{one.measured}" for one in found)
        return Finding(all(one.holds for one in found), said)


def _part(value: object, where: str) -> Predicate:
    if not isinstance(value, Mapping):
        raise FigureError(f"{where}: {value!r} is not a table")
    known: Mapping[str, type[Predicate]] = import_module("incast.reproduce.predicates").PREDICATES
    kind = choose(value.get("test", "compare"), known, f"{where}: test")
    own = {key: one for key, one in value.items() if key != "test"}
    build = getattr(kind, "from_toml", None)
    part: Predicate = build(own, where) if build else take(kind, own, where)
    return part
