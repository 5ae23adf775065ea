"""A scenario's document: the TOML tree as given, with overrides applied.

Nothing is validated here: only the Rust core validates scenarios.
"""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from incast import _core
from incast.scenario import precision
from incast.scenario.override import apply, check_key
from incast.scenario.plain import as_json, check
from incast.scenario.plan import Plan, Point
from incast.scenario.shipped import instead, located
from incast.scenario.sizes import check as check_sizes
from incast.scenario.sizes import inline
from incast.userfile import NotTextError, text_of


@dataclass(frozen=True)
class Scenario:
    """A network, its traffic and its transport, with an optional sweep.

    Parameters
    ----------
    document
        The tree of the TOML file, with tables as dictionaries.
    source
        The name of the scenario's file, for error messages; empty for a dictionary.
    engine
        The version of the backend that runs the scenario; empty for the simulator.
    """

    document: dict[str, Any]
    source: str = field(default="", compare=False)
    engine: str = ""

    def override(self, key: str, value: object) -> "Scenario":
        """Return a copy in which the dotted `key` has another value.

        If the key is swept, a single value ends its sweep, and a list replaces its axis.

        Raises
        ------
        ScenarioError
            No scenario has such a key, or TOML cannot express the value. Later, `plan` checks
            whether the value suits the key and the other values.
        """
        try:
            check(value, key)
            document = copy.deepcopy(self.document)
            apply(document, key, value)
            inline(document, Path(self.source).parent)
            check_key(document, key, value)
        except _core.ScenarioError as error:
            raise self.error(error) from None
        return replace(self, document=document)

    @cached_property
    def plan(self) -> Plan:
        """The points and seeds to run.

        Raises
        ------
        ScenarioError
            The scenario is not valid. The message names the file and the key.
        """
        points, seeds, wanted = self._points()
        return Plan.of(points, seeds, self.engine or _core.version(), wanted)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The swept keys of each point, with their values as written in the document.

        Raises
        ------
        ScenarioError
            The scenario is not valid.
        """
        return [dict(point.swept) for point in self._points()[0]]

    def _points(self) -> tuple[list[Point], list[int], precision.Precision | None]:
        try:
            check_sizes(self.document, Path(self.source).parent)
            points, seeds = _core.plan(as_json(precision.without(self.document)))
            wanted = precision.of(self.document, len(seeds))
        except _core.ScenarioError as error:
            raise self.error(error) from None
        return [Point(*point) for point in points], seeds, wanted

    def error(self, error: _core.ScenarioError) -> _core.ScenarioError:
        """Return the error with the scenario's name before its message."""
        return _core.ScenarioError(f"{self.source}: {error}") if self.source else error


def load(source: str | Path | Mapping[str, Any]) -> Scenario:
    """Read a scenario from a TOML file, or take it from a dictionary of the same shape.

    Parameters
    ----------
    source
        The dictionary, the file, or the name of a shipped scenario (`incast list scenarios`). If a
        file has the name of a shipped scenario, the file is read.

    Raises
    ------
    ScenarioError
        The file cannot be read or is not TOML. The message names the file and the line.
    """
    if isinstance(source, Mapping):
        check(source)
        document = copy.deepcopy(dict(source))
        inline(document, Path())
        return Scenario(document)
    path = Path(source)
    try:
        text = text_of(located(path))
    except OSError as error:
        hint = instead(path) if isinstance(error, FileNotFoundError) else ""
        raise _core.ScenarioError(f"{path}: {error.strerror}{hint}") from None
    except NotTextError as error:
        raise _core.ScenarioError(f"{path}: {error}") from None
    except ValueError as error:  # a name that no file can have
        raise _core.ScenarioError(f"{str(path)!r}: {error}") from None
    try:
        document = read(text)
        inline(document, path.parent)
        return Scenario(document, str(path))
    except _core.ScenarioError as error:
        raise _core.ScenarioError(f"{path}: {error}") from None


def read(text: str) -> dict[str, Any]:
    """Read TOML as a scenario's tree.

    Raises
    ------
    ScenarioError
        The text is not TOML. The message names the line and the column.
    """
    document: dict[str, Any] = json.loads(_core.document(text))
    return document
