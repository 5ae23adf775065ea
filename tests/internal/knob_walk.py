"""The keys of the schema, and documents in which one key has a value other than the default."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incast import _core

Document = dict[str, Any]

TABLES = Path(__file__).parent / "knobs"
SCHEMA: Document = json.loads(_core.schema())
# A part of the schema is visited first at its table. These keys contain the same parts again, so
# they are visited last.
_LATE = ("name", "core", "sweep")
# Traffic that never ends by itself is background traffic of a scenario with another workload.
_BESIDE = ("long-flow", "poisson-flows", "cbr", "poisson", "on-off")
_LISTS = ("background", "remedies", "classes")
_STEP = re.compile(r"([\w-]+)(?:\[([\w-]+)\])?")
_QUANTITY = re.compile(r"([\d.]+) ?([A-Za-z%]+)")
_TIMERS = {"rto_min": "5ms", "rto_initial": "20ms", "syn_rto": "20ms", "rto_after_syn_loss": "30ms"}


def table(name: str) -> Document:
    return tomllib.loads((TABLES / f"{name}.toml").read_text(encoding="utf-8"))


def scenarios() -> Document:
    """Return the scenarios in which keys are tried, with timers that suit short runs."""
    usual = {"run": {"time_limit": "3s", "seeds": [1]}}
    return {
        name: usual | given | {"transport": _TIMERS | given.get("transport", {})}
        for name, given in table("scenarios").items()
    }


def keys() -> dict[str, Document]:
    """Return the schema of every key; `network.queue[red].min_th` is a key of `red`."""
    found: dict[str, Document] = {}
    seen: set[str] = set()
    late: list[tuple[Document, str]] = []

    def visit(node: Document, path: str) -> None:
        target = node.get("$ref", "")
        if target and target not in seen:
            seen.add(target)
            visit(_definition(target), path)
        properties = node.get("properties", {})
        name = properties.get("name", {}).get("const")
        path = "background" if path == "workload" and name in _BESIDE else path
        path = f"{path}[{name}]" if name else path
        for key, about in properties.items():
            if "const" not in about:
                place = f"{path}.{key}" if path else key
                found[place] = about
                if key in _LATE or (key == "transport" and path):
                    late.append((about, place))
                else:
                    visit(about, place)
        items = [node["items"]] if "items" in node else []
        for part in (*node.get("oneOf", ()), *node.get("anyOf", ()), *items):
            visit(part, path)

    visit(SCHEMA, "")
    while late:
        visit(*late.pop())
    return found


def put(document: Mapping[str, Any], key: str, *values: object) -> Document:
    """Return the document with the tables of a key, and with a value of the key if one is given."""
    changed = copy.deepcopy(dict(document))
    *tables, (last, _) = _STEP.findall(key)
    place = changed
    for step, name in tables:
        here = place.get(step)
        if step in _LISTS:
            here = here if here and here[0].get("name", "") == name else [{}]
            place[step], inner = here, here[0]
        elif isinstance(here, list):
            # If there are several workloads, the key belongs to the last one.
            inner = here[-1] if here[-1].get("name", "") == name else {}
            place[step] = [*here[:-1], inner]
        else:
            inner = here if isinstance(here, dict) else {"name": here} if here else {}
            inner = inner if not name or inner.get("name") == name else {}
            place[step] = inner
        if name:
            inner["name"] = name
        place = inner
    for value in values:
        place[last] = value
    return changed


def without(document: Mapping[str, Any], key: str) -> Document:
    changed = copy.deepcopy(dict(document))
    *tables, last = key.split(".")
    place = changed
    for step in tables:
        place = place[step]
    place.pop(last, None)
    return changed


def around(key: str, given: Mapping[str, Any], base: Mapping[str, Any]) -> Document:
    """Return the scenario in which a key is tried, before the key has its value."""
    document = put(base, key)
    for gone in given.get("without", ()):
        document = without(document, gone)
    for other, value in given.get("with", {}).items():
        document = put(document, other, value)
    return document


def others(about: Document) -> Iterator[object]:
    """Yield values other than the default: other names, or a larger and a smaller quantity."""
    default = about.get("default")
    if isinstance(default, bool):
        yield not default
    elif isinstance(default, int | float):
        yield from (default * 4, default / 4 if isinstance(default, float) else default // 4)
    elif isinstance(default, str) and (quantity := _QUANTITY.fullmatch(default)):
        number, unit = float(quantity[1]), quantity[2]
        yield from (f"{number * 4:g}{unit}", f"{number / 4:g}{unit}")
    yield from (name for name in _names(about) if name != default)


def _definition(target: str) -> Document:
    definition: Document = SCHEMA["$defs"][target.rpartition("/")[2]]
    return definition


def _names(about: Document) -> Iterator[str]:
    if target := about.get("$ref"):
        yield from _names(_definition(target))
    yield from about.get("enum", ())
    for part in (*about.get("oneOf", ()), *about.get("anyOf", ())):
        if "const" in part:
            yield part["const"]
        else:
            yield from _names(part)
