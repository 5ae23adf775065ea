"""The rows of scenarios/remedies.toml, which include every remedy."""

import json
from dataclasses import dataclass

import incast
from incast.results.series import label_of
from validation.ranking.draw import REMEDIES
from validation.ranking.parties import group


@dataclass(frozen=True)
class Row:
    """A transport, with the remedies that are used with it."""

    label: str
    names: tuple[str, ...]

    @property
    def group(self) -> str:
        """The parties that must change, as a key of `parties.GROUPS`."""
        return group(self.names)


def rows() -> list[Row]:
    """Return the rows of the scenario, in the scenario's order."""
    scenario = incast.load(REMEDIES).override("workload.servers", 2)
    return [
        Row(label_of(point.swept), tuple(_names(point.swept))) for point in scenario.plan.points
    ]


def _names(swept: dict[str, object]) -> list[str]:
    beside = json.loads(str(swept["transport.remedies"]))
    return [_name(swept["transport.name"]), *map(_name, beside)]


def _name(value: object) -> str:
    """Return the name in a value; the value may be the name, a table, or a table as JSON text."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    return str(value["name"]) if isinstance(value, dict) else str(value)
