"""Reference pages written by the code: `<!-- from code: NAME -->` becomes what the core says."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from figures import figures
from gallery import gallery, verdicts
from sphinx.application import Sphinx

from incast import _core
from incast.models import MODELS
from incast.plots import KINDS as PLOTS

MARKER = re.compile(r"<!-- from code: ([\w ]+) -->")
PROFILES = [entry["name"] for entry in json.loads(_core.entries("profiles"))]

SCHEMA: dict[str, Any] = json.loads(_core.schema())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]

# What a key accepts, by the name of its definition.
KINDS = {
    "Rate": "rate",
    "Time": "time",
    "Size": "size",
    "Limit": "size or packets",
    "Level": "size, packets or share",
    "Alpha": "ratio",
    "Window": "segments or size",
    "Seeds": "number or list",
    "Places": "number or list",
}


def tables() -> Iterator[str]:
    """Write every table of a scenario, key by key."""
    properties = SCHEMA["properties"]
    below = {key: _table(about) for key, about in properties.items()}
    yield "## At the top\n"
    yield from _keys({key: about for key, about in properties.items() if not below[key]})
    for key, variants in below.items():
        if not variants:
            continue
        listed = "items" in properties[key]
        yield f"\n## `{f'[[{key}]]' if listed else f'[{key}]'}`\n"
        yield properties[key]["description"] + "\n"
        for variant in variants:
            keys = dict(variant["properties"])
            if "const" in keys.get("name", {}):
                yield f'\n### `name = "{keys.pop("name")["const"]}"`\n'
                yield variant["description"] + "\n"
            yield from _keys(keys)


def names() -> Iterator[str]:
    """Write every registry, entry by entry, with its parameters."""
    for kind in (
        "congestion-controls",
        "recoveries",
        "remedies",
        "topologies",
        "queues",
        "buffers",
    ):
        yield f"\n## {kind.replace('-', ' ').capitalize()}\n"
        for entry in json.loads(_core.entries(kind)):
            yield f"\n### `{entry['name']}`\n"
            yield entry["summary"] + "\n"
            yield from _keys(entry["parameters"])
    yield "\n## Plots\n"
    for plot in PLOTS.values():
        needs = f" Needs `--trace {','.join(plot.traces)}`." if plot.traces else ""
        yield f"\n`{plot.name}`\n: {plot.summary[0].upper()}{plot.summary[1:]}.{needs}\n"


def models() -> Iterator[str]:
    """Write the list of models, with their own numbers."""
    for model in MODELS.values():
        yield f"\n### `{model.name}`\n"
        yield f"{model.summary[0].upper()}{model.summary[1:]}. Source: {model.source}.\n"
        if model.needs:
            yield f"Needs, measured: {', '.join(f'`{name}`' for name in model.needs)}.\n"
        for measure in model.measures:
            unit = f", {measure.unit}" if measure.unit != "1" else ""
            yield f"\n`{model.name}.{measure.name}`{unit}: {_text(measure.summary)}\n"


def columns() -> Iterator[str]:
    """Write every column of every table, with unit and meaning."""
    headings = {
        "rows": "Rows: `runs/`",
        "events": "Events: `events/`",
        "queues": "Queue: `queues/`",
        "flows": "Connections: `flows/`",
    }
    for table, heading in headings.items():
        yield f"\n## {heading}\n"
        yield "| Column | Unit | Meaning |\n| :-- | :-- | :-- |"
        for column in json.loads(_core.columns(table)):
            unit = column["unit"] if column["unit"] != "1" else ""
            yield f"| `{column['name']}` | {unit} | {_text(column['description'])} |"


def profiles() -> Iterator[str]:
    """Write the defaults in which the profiles differ."""
    resolved = {name: dict(_flat(_resolved(name))) for name in PROFILES}
    yield f"| Key | {' | '.join(f'`{name}`' for name in PROFILES)} |"
    yield "| :-- | " + " | ".join(":--" for _ in PROFILES) + " |"
    for key in resolved["lab"]:
        values = [resolved[name].get(key) for name in PROFILES]
        # The delay of the servers' links is that of all links where nobody says otherwise.
        if key in {"profile", "network.server_delay"}:
            continue
        if len({json.dumps(value) for value in values}) > 1:
            sizes = [int(resolved[name]["transport.mss"]) for name in PROFILES]
            cells = map(_value, values, sizes)
            yield f"| `{key}` | {' | '.join(cells)} |"


def _resolved(profile: str) -> dict[str, Any]:
    document = {"profile": profile, "workload": {"servers": 1, "sru": "1KiB"}}
    plan = json.loads(_core.plan(json.dumps(document)))
    resolved: dict[str, Any] = plan["points"][0]["resolved"]
    return resolved


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and not key.startswith("delayed_ack"):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _value(value: object, mss: int) -> str:
    """Return a resolved value as a person would write it; other parts have other parameters."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(part, mss)}" for name, part in value.items())
    text = json.dumps(value).strip('"')
    window = re.fullmatch(r"(\d+)B", text)
    if window:
        size = int(window[1])
        text = f"{size >> 20}MiB" if size % (1 << 20) == 0 else f"{size / mss:g}seg"
    elif isinstance(value, int) and value > 0 and value % 1024 == 0 and value != mss:
        text = f"{value // 1024}KiB"
    seconds = re.fullmatch(r"([\d.]+)s", text)
    if seconds and 0 < float(seconds[1]) < 1:
        for unit, factor in (("ms", 1e3), ("us", 1e6), ("ns", 1e9), ("ps", 1e12)):
            if float(seconds[1]) * factor >= 1:
                text = f"{float(seconds[1]) * factor:g}{unit}"
                break
    return f"`{text}`"


def _keys(keys: dict[str, Any]) -> Iterator[str]:
    for key, about in keys.items():
        default = (
            f", default `{_default(about['default'])}`" if about.get("default", "") != "" else ""
        )
        yield f"\n`{key}`: {_accepts(about)}{default}"
        yield f": {_text(about.get('description', ''))}"
        for name, meaning in _choices(about):
            yield f"  - `{name}`: {_text(meaning)}" if meaning else f"  - `{name}`"
        # The tables of a list are described where the list is.
        for name, part in about.get("items", {}).get("properties", {}).items():
            default = f", default `{_default(part['default'])}`" if "default" in part else ""
            yield f"  - `{name}`: {_accepts(part)}{default}: {_text(part['description'])}"
    yield ""


def _table(about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the variants of the table that a key holds, none if it holds something else."""
    definition = DEFINITIONS.get(_definition(about.get("items", about)), {})
    variants: list[dict[str, Any]] = definition.get("oneOf", [definition])
    return [variant for variant in variants if "properties" in variant]


def _accepts(about: dict[str, Any]) -> str:
    definition = _definition(about)
    if definition in KINDS:
        return KINDS[definition]
    whole = {**DEFINITIONS.get(definition, {}), **about}
    if "type" in whole:
        types = {"boolean": "true or false", "integer": "number", "object": "table"}
        kind = str(whole["type"])
        return types.get(kind, "list of tables" if kind == "array" else kind)
    parts = whole.get("anyOf", whole.get("oneOf", []))
    if any("enum" in part for part in parts):
        return "name or table"
    quantities = [
        kind for part in parts if "const" not in part for kind in _accepts(part).split(" or ")
    ]
    return " or ".join(dict.fromkeys([*quantities, *(["name"] if _choices(about) else [])]))


def _choices(about: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names that a key accepts and what they mean."""
    whole = {**DEFINITIONS.get(_definition(about), {}), **about}
    parts = whole.get("anyOf", whole.get("oneOf", []))
    flat = [each for part in parts for each in part.get("oneOf", [part])]
    named = [(each["const"], each.get("description", "")) for each in flat if "const" in each]
    return named + [(name, "") for part in parts for name in part.get("enum", [])]


def _definition(about: dict[str, Any]) -> str:
    return str(about.get("$ref", "")).rpartition("/")[2]


def _default(value: object) -> str:
    if isinstance(value, dict) and set(value) == {"name"}:
        value = value["name"]
    return value if isinstance(value, str) else json.dumps(value)


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


WRITERS: dict[str, Callable[..., Iterator[str]]] = {
    "tables": tables,
    "names": names,
    "columns": columns,
    "profiles": profiles,
    "models": models,
    "figures": figures,
    "gallery": gallery,
    "verdicts": verdicts,
}


def _expand(_: Sphinx, _docname: str, source: list[str]) -> None:
    source[0] = MARKER.sub(_written, source[0])


def _written(marker: re.Match[str]) -> str:
    name, *arguments = marker[1].split()
    return "\n".join(WRITERS[name](*arguments))


def setup(app: Sphinx) -> dict[str, bool]:
    """Let every page ask for what the code knows."""
    app.connect("source-read", _expand)
    return {"parallel_read_safe": True}
