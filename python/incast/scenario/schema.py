"""The keys of the core's schema, for `incast explain` and the reference."""

import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from incast import _core
from incast.scenario import precision

Schema = dict[str, Any]

REGISTRIES = (
    "congestion-controls",
    "recoveries",
    "remedies",
    "repairs",
    "rates",
    "paths",
    "credits",
    "nics",
    "topologies",
    "queues",
    "buffers",
)
"""The registries whose entries have parameters, by their names in `incast list`."""

# What a key accepts, by the name of its definition.
_KINDS = {
    "Rate": "rate",
    "Time": "time",
    "Size": "size",
    "Limit": "size or packets",
    "Level": "size, packets or share",
    "Alpha": "ratio",
    "Window": "segments or size",
    "Seeds": "number or list",
    "Places": "number or list",
    "Numbers": "number or list",
}
_BOUNDS = (
    ("minimum", "at least"),
    ("exclusiveMinimum", "above"),
    ("maximum", "at most"),
    ("exclusiveMaximum", "below"),
)
_BRACKETS = re.compile(r"\([^()]*\)")
_RANGE = re.compile(r"at least [\d.]*\d|above [\d.]*\d|[\d.]*\d to [\d.]*\d")
_SOURCE = re.compile(
    r"RFC \d+(?: (?:§\d+(?:\.\d+)*|\(\d+(?:\.\d+)*\)))?|IEEE [\d.]+\w*|draft-[\w-]+"
    r"|ns-[23](?:\.\d+)?|Linux(?= has|'s|:|\))|[A-Z]\w+(?: & [A-Z]\w+| et al\.)(?: \d{4})?"
)


@dataclass(frozen=True)
class Key:
    """A key of a scenario.

    Parameters
    ----------
    name
        The key's name with its tables: `network.core.rate`.
    about
        The key's schema.
    variant
        The `name` of the table that has the key; empty if the table has no `name`.
    """

    name: str
    about: Schema
    variant: str = ""


@cache
def schema() -> Schema:
    """Return the whole schema of a scenario."""
    whole: Schema = json.loads(_core.schema())
    table = whole["$defs"]["Run"]["properties"]
    table.update(copy.deepcopy(precision.KEYS))
    return whole


@cache
def registry(kind: str) -> list[Schema]:
    """Return the entries of a registry: `name`, `summary`, `parameters`."""
    entries: list[Schema] = json.loads(_core.entries(kind))
    return entries


def profiles() -> list[str]:
    """Return the names of the profiles."""
    return [entry["name"] for entry in registry("profiles")]


@cache
def all_keys() -> tuple[Key, ...]:
    """Return every key, table by table."""
    found: list[Key] = []
    for name, about in schema()["properties"].items():
        found.append(Key(name, about))
        found.extend(_below(name, about))
    return tuple(found)


def _below(name: str, about: Schema, variant: str = "") -> Iterator[Key]:
    """Yield the keys of the tables that a key contains.

    The table of a registry entry in a nested key is left out, because the registry lists the
    parameters of this entry.
    """
    for table in tables(about):
        properties = dict(table["properties"])
        own = str(properties.get("name", {}).get("const", ""))
        if own and "." in name:
            continue  # a registry entry: the registry lists its parameters
        for key, each in properties.items():
            if key == "name" and own:
                continue
            below = Key(f"{name}.{key}", each, own or variant)
            yield below
            if "Transport" not in _parts(each):  # background traffic repeats the transport's keys
                yield from _below(below.name, each, below.variant)


def tables(about: Schema) -> list[Schema]:
    """Return the tables that a key may contain; an empty list if it contains no table."""
    parts = [about, *about.get("anyOf", ()), *about.get("oneOf", ())]
    parts = [definition(part.get("items", part)) for part in parts]
    variants = [one for part in parts for one in part.get("oneOf", part.get("anyOf", [part]))]
    wholes = [definition(one) for one in variants]
    found = [one for one in wholes if "properties" in one]
    # A table and a list of such tables have the same keys.
    return [one for index, one in enumerate(found) if one not in found[:index]]


def definition(about: Schema) -> Schema:
    """Return the target of a reference, or the schema itself."""
    found: Schema = schema()["$defs"].get(_reference(about), about)
    return found


def accepts(about: Schema) -> str:
    """Return the kind of value of a key."""
    reference = _reference(about)
    if reference in _KINDS:
        return _KINDS[reference]
    whole = {**schema()["$defs"].get(reference, {}), **about}
    if "type" in whole:
        types = {"boolean": "true or false", "integer": "number", "object": "table"}
        kind = str(whole["type"])
        if kind == "array":
            return "list of tables" if tables(about) else "list"
        return types.get(kind, kind)
    parts = whole.get("anyOf", whole.get("oneOf", []))
    if any("enum" in part for part in parts):
        return "name or table"
    if any("items" in part for part in parts) and tables(about):
        return "table or list of tables"
    quantities = [
        kind for part in parts if "const" not in part for kind in accepts(part).split(" or ")
    ]
    return " or ".join(dict.fromkeys([*quantities, *(["name"] if choices(about) else [])]))


def choices(about: Schema) -> list[tuple[str, str]]:
    """Return the names that a key accepts, each with its meaning."""
    whole = {**schema()["$defs"].get(_reference(about), {}), **about}
    if "const" in whole:
        return [(str(whole["const"]), str(whole.get("description", "")))]
    parts = [*whole.get("anyOf", ()), *whole.get("oneOf", ())]
    parts = [part for part in parts if not tables(part)]  # leave out the entries of a registry
    found = [choice for part in parts for choice in choices(part)]
    return [*found, *((str(name), "") for name in whole.get("enum", ()))]


def default(about: Schema) -> str:
    """Return the default of a key as text, or an empty text if the key has no default."""
    value = about.get("default", "")
    if isinstance(value, dict) and set(value) == {"name"}:
        value = value["name"]
    return value if isinstance(value, str) else json.dumps(value)


def bounds(about: Schema) -> str:
    """Return the range of a value as text, or an empty text if the range is not known.

    A range in the key's description has priority over the limits in the schema. Text in brackets
    in the description is ignored.
    """
    meaning = str(about.get("description", ""))
    while (shorter := _BRACKETS.sub("", meaning)) != meaning:
        meaning = shorter
    if said := _RANGE.search(meaning):
        return said[0]
    whole = {**definition(about), **about}
    limits = [(words, whole[name]) for name, words in _BOUNDS if whole.get(name)]
    return ", ".join(f"{words} {limit:g}" for words, limit in limits)


def sources(text: str) -> list[str]:
    """Return the publications and systems that a description names."""
    return list(dict.fromkeys(_SOURCE.findall(text)))


def of_profiles(name: str) -> dict[str, str]:
    """Return the value of a key of `[network]` or `[transport]` in each profile that has one."""
    if name.partition(".")[0] not in {"network", "transport"}:
        return {}
    found = {}
    for profile in profiles():
        value: Any = resolved(profile)
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, dict) and "name" in value:
            value = value["name"]  # leave out the parameters of the registry entry
        if value is not None:
            found[profile] = human(value, int(resolved(profile)["transport"]["mss"]))
    return found


@cache
def resolved(profile: str) -> dict[str, Any]:
    """Return all defaults of a profile, in base units, with the smallest workload."""
    document = {"profile": profile, "workload": {"servers": 1, "sru": "1KiB"}}
    points, _ = _core.plan(json.dumps(document))
    resolved: Schema = points[0][1]
    return resolved


def human(value: object, mss: int) -> str:
    """Return a resolved value as a person would write it.

    Parameters
    ----------
    value
        The value in base units, or a table with a name and parameters.
    mss
        The segment size in bytes, because windows are in segments.
    """
    if isinstance(value, dict):
        return ", ".join(f"{name} {human(part, mss)}" for name, part in value.items())
    text = "none" if value == [] else json.dumps(value).strip('"')
    if window := re.fullmatch(r"(\d+)B", text):
        size = int(window[1])
        return f"{size >> 20}MiB" if size % (1 << 20) == 0 else f"{size / mss:g}seg"
    if rate := re.fullmatch(r"(\d+)bps", text):
        return _scaled(int(rate[1]), (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)))
    if type(value) is int and value > 0 and value % 1024 == 0 and value != mss:
        return f"{value // 1024}KiB"
    seconds = re.fullmatch(r"([\d.]+)s", text)
    units = (("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12))
    short = seconds is not None and 0 < float(seconds[1]) < 1
    return _scaled(float(text[:-1]), units) if short else text


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    name, unit = next((one for one in units if value >= one[1] * (1 - 1e-12)), units[-1])
    return f"{value / unit:g}{name}"


def _parts(about: Schema) -> list[str]:
    """Return the names of the definitions that a key may be."""
    return [_reference(part) for part in (about, *about.get("anyOf", ()))]


def _reference(about: Schema) -> str:
    return str(about.get("$ref", "")).rpartition("/")[2]
