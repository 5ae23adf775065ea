"""Overrides of single keys: `--set key=value` and `Scenario.override`."""

import copy
import json
import re
import tomllib
from difflib import get_close_matches
from typing import Any

from incast import _core
from incast._core import ScenarioError
from incast.scenario import precision, schema
from incast.scenario.plain import as_json

_LIKE = 0.8  # minimum similarity with which an unknown name is taken for a known name
_DEEPEST = 16  # levels of tables, more than any scenario has


def parse(text: str, option: str = "--set") -> tuple[str, object]:
    """Split `key=value`; the value is parsed as TOML if possible, otherwise it is a string.

    `workload.servers=8`, `network.buffer=64KiB` and `run.seeds=[1, 2]` are all valid.

    Raises
    ------
    ScenarioError
        The text has no `=`, no key, or more than one line, or it begins a list or a table that is
        not TOML.
    """
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key or not value or "\n" in text:
        raise ScenarioError(f"{option} {text!r}: write key=value, e.g. workload.servers=8")
    if not all(key.split(".")) or key.count(".") > _DEEPEST:
        raise ScenarioError(
            f"{option} {text!r}: {key!r} must be a dotted key, e.g. workload.servers"
        )
    parsed = _value(value)
    if isinstance(parsed, str) and (parsed[:1], parsed[-1:]) in {("[", "]"), ("{", "}")}:
        raise ScenarioError(
            f"{option} {text!r}: {value} is not TOML: text in lists and tables must be in quotes; "
            f"write e.g. {option} '{_quoted(key, value)}'"
        )
    return key, parsed


def apply(document: dict[str, Any], key: str, value: object) -> None:
    """Set the dotted `key` in `document`, and change the sweep of the key if it is swept.

    `sweep.workload.servers` adds an axis for the key `workload.servers`.

    Raises
    ------
    ScenarioError
        A part of the key is not a table.
    """
    table, _, axis = key.partition(".")
    if table == "sweep" and axis not in {"", "zip"}:
        document.setdefault("sweep", {})[axis.replace('"', "")] = value
        return
    if isinstance(document.get("sweep"), dict) and _apply_to_sweep(document["sweep"], key, value):
        if not document["sweep"]:
            del document["sweep"]
        if isinstance(value, list):
            return
    _assign(document, key, value)


_UNKNOWN = re.compile(r'(?P<key>[^ :]+): unknown key(?:; did you mean "(?P<instead>[^"]+)"\?)?')


def check_key(document: dict[str, Any], key: str, value: object) -> None:
    """Refuse a key that no scenario has; `Scenario.plan` checks the value and all other keys.

    Parameters
    ----------
    document
        The scenario, in which the key is set.
    key, value
        The arguments with which `apply` has set the key.

    Raises
    ------
    ScenarioError
        The core does not know the key. The message names the most similar key of the same table.
    """
    table, _, axis = key.partition(".")
    if table == "sweep":
        if axis in {"", "zip"}:
            return
        key = axis.replace('"', "")
    one = {name: part for name, part in document.items() if name != "sweep"}
    if isinstance(value, list) and key not in {"run.seeds", "transport.remedies"}:
        value = next(iter(value), None)
    try:
        one = copy.deepcopy(one)
        _assign(one, key, value)
        _core.plan(as_json(precision.without(one)))
    except ScenarioError as error:
        found = _UNKNOWN.match(str(error))
        ours = found is not None and f"{key}.".startswith(f"{found['key']}.")
        if found is None or not ours or _of_another_part(key):
            return
        near = _nearest(found["key"], found["instead"])
        if near is None:
            raise
        raise ScenarioError(f'{found["key"]}: unknown key; did you mean "{near}"?') from None


def _of_another_part(key: str) -> bool:
    """Return whether a table with another `name` has the key; that name may be set later."""
    *above, last = (part for part in key.split(".") if not part.isdigit())
    plain = ".".join([*above, last]).replace("background.transport.", "transport.")
    if any(one.name == plain for one in schema.all_keys()):
        return True
    entries = (entry for kind in schema.REGISTRIES for entry in schema.registry(kind))
    return len(above) > 1 and any(last in entry["parameters"] for entry in entries)


def _nearest(key: str, instead: str | None) -> str | None:
    """Return the whole name of the most similar known key, if any is similar enough."""
    above, dot, last = key.rpartition(".")
    if instead is not None:
        return f"{above}{dot}{instead}"
    names = [one.name for one in schema.all_keys()]
    beside = [name for name in names if not above or name.rpartition(".")[0] == above]
    beside.sort(key=lambda name: name.count("."))
    ends = {name.rpartition(".")[2]: name for name in reversed(beside)}
    near = get_close_matches(last, ends, n=1, cutoff=_LIKE)
    return ends[near[0]] if near else None


_BARE = re.compile(r"(?<=[\[,=])\s*([A-Za-z0-9.^_-]*[A-Za-z^][A-Za-z0-9.^_-]*)\s*(?=[\],}])")


def _quoted(key: str, value: str) -> str:
    """Put bare words of a list or a table into quotes; return an example if that fails."""
    corrected = _BARE.sub(r'"\1"', value)
    readable = not isinstance(_value(corrected), str)
    return f"{key}={corrected}" if readable else 'sweep.network.buffer=["64KiB","1MiB"]'


def _value(text: str) -> object:
    try:
        value = tomllib.loads(f"value = {text}")["value"]
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):  # not TOML, or not JSON
        return text
    return value


def _apply_to_sweep(sweep: dict[str, Any], key: str, value: object) -> bool:
    """Replace or remove the axis of `key`; return whether the key had an axis."""
    pairs = sweep.get("zip")
    for table in [sweep, *(pairs if isinstance(pairs, list) else [])]:
        if _replace(table, key, value if isinstance(value, list) else None):
            if isinstance(pairs, list):
                sweep["zip"] = [pair for pair in pairs if pair]
                if not sweep["zip"]:
                    del sweep["zip"]
            return True
    return False


def _replace(table: object, key: str, axis: list[Any] | None) -> bool:
    """Replace or remove `key` in a table of axes, which may be nested."""
    if not isinstance(table, dict):
        return False
    if key in table:
        if axis is None:
            del table[key]
        else:
            table[key] = axis
        return True
    for name in [name for name in table if key.startswith(f"{name}.")]:
        if _replace(table[name], key[len(name) + 1 :], axis):
            if not table[name]:
                del table[name]
            return True
    return False


def _assign(document: dict[str, Any], key: str, value: object) -> None:
    *path, last = key.split(".")
    place: Any = document
    for step in path:
        if isinstance(place, list):
            place = place[_index(place, step, key)]
        elif isinstance(place, dict):
            if step.isdigit():  # no table has numbers for keys
                raise ScenarioError(f"{key}: there is no entry {step}, because there is no list")
            place = place.setdefault(step, {})
        if not isinstance(place, dict | list):
            raise ScenarioError(f"{key}: {step!r} is a value, not a table")
    if isinstance(place, list):
        place[_index(place, last, key)] = value
    else:
        place[last] = value


def _index(items: list[Any], step: str, key: str) -> int:
    if not step.isdigit() or int(step) >= len(items):
        raise ScenarioError(f"{key}: {step!r} is not one of the {len(items)} entries, from 0")
    return int(step)
