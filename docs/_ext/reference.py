"""The parts of reference pages that the code writes, between two marks in each page."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import figures

import incast
from incast import _core, units
from incast.models import MODELS
from incast.plots import KINDS as PLOTS
from incast.results.added import DESCRIPTIONS
from incast.results.traces import KINDS as TRACES
from incast.scenario import schema

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial" / "first-collapse.md",
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
WRITTEN = re.compile(r"(<!-- from code: (\w+) -->\n).*?(<!-- end of it -->\n)", re.DOTALL)


def tables() -> Iterator[str]:
    """Write every table of a scenario, key by key."""
    properties = schema.schema()["properties"]
    below = {key: _variants(about) for key, about in properties.items()}
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
    for kind in schema.REGISTRIES:
        yield f"\n## {kind.replace('-', ' ').capitalize()}\n"
        for entry in schema.registry(kind):
            yield f"\n### `{entry['name']}`\n"
            yield entry["summary"] + "\n"
            yield from _keys(entry["parameters"])
    yield "\n## Plots\n"
    for plot in PLOTS.values():
        needs = f" Needs `--trace {','.join(plot.traces)}`." if plot.traces else ""
        yield f"- `{plot.name}`: {plot.summary[0].upper()}{plot.summary[1:]}.{needs}"


def models() -> Iterator[str]:
    """Write the list of models, with the columns of each."""
    for model in MODELS.values():
        yield f"\n### `{model.name}`\n"
        yield f"{model.summary[0].upper()}{model.summary[1:]}. Source: {model.source}.\n"
        if model.needs:
            needs = ", ".join(f"`{name}`" for name in model.needs)
            yield f"Needs these measured quantities: {needs}.\n"
        for measure in model.measures:
            unit = f", {measure.unit}" if measure.unit != "1" else ""
            yield f"- `{model.name}.{measure.name}`{unit}: {_text(measure.summary)}"


def columns() -> Iterator[str]:
    """Write every column of every table, with unit and meaning."""
    headings = {"rows": "Rows: `runs/`"}
    headings |= {kind.table: f"Trace `{kind.name}`: `{kind.table}/`" for kind in TRACES.values()}
    for table, heading in headings.items():
        yield f"\n## {heading}\n"
        yield "| Column | Unit | Meaning |\n| :-- | :-- | :-- |"
        told = json.loads(_core.columns(table))
        found = [(column["name"], column["unit"], column["description"]) for column in told]
        for name, unit, meaning in [*found, *(DESCRIPTIONS if table == "rows" else ())]:
            yield f"| `{name}` | {unit if unit != '1' else ''} | {_text(meaning)} |"


def profiles() -> Iterator[str]:
    """Write the defaults in which the profiles differ."""
    names = schema.profiles()
    flat = {name: dict(_flat(schema.resolved(name))) for name in names}
    yield f"| Key | {' | '.join(f'`{name}`' for name in names)} |"
    yield "| :-- | " + " | ".join(":--" for _ in names) + " |"
    for key in flat["lab"]:
        values = [flat[name].get(key) for name in names]
        # The servers' links have the delay of all links unless a key sets another.
        if key in {"profile", "network.server_delay"}:
            continue
        if len({json.dumps(value) for value in values}) > 1:
            sizes = [int(flat[name]["transport.mss"]) for name in names]
            cells = map(_cell, values, sizes)
            yield f"| `{key}` | {' | '.join(cells)} |"


@cache
def _storage_read() -> tuple[list[str], list[tuple[int, float]]]:
    """Return the output of `make demo` on 80 columns, and the goodput at each number of servers."""
    with TemporaryDirectory() as folder:
        said = subprocess.run(  # noqa: S603 (our own command)
            [sys.executable, "-m", "incast", "run", "storage-read", "--out", folder],
            env=os.environ | {"COLUMNS": "80"}, check=True, capture_output=True, text=True,
        )  # fmt: skip
        summary = incast.open_results(folder).summary()
    lines = [line.rstrip() for line in said.stdout.splitlines()]
    return lines, summary.select("workload.servers", "goodput_bps").rows()


def demo() -> Iterator[str]:
    """Write the demo's table and sentence."""
    yield from ("```text", *_storage_read()[0], "```")


def bars() -> Iterator[str]:
    """Write the demo's picture in text characters.

    A picture in a file would be missing from a page that is shown outside the repository.
    """
    yield "```text\n servers  goodput, each block 20 Mbps"
    for servers, goodput in _storage_read()[1]:
        whole, eighths = divmod(round(goodput / _BLOCK * 8), 8)
        bar = "█" * whole + " ▏▎▍▌▋▊▉"[eighths].strip()
        yield f"{servers:8}  {bar} {units.rate(goodput)}"
    yield "```"


_BLOCK = 20e6  # bit/s of one letter of a bar


def speed() -> Iterator[str]:
    """Write the speeds that `make bench` measured last."""
    kept = json.loads(_SPEED.read_text(encoding="utf-8"))
    hops, times = kept["hops_per_second"]["release"], kept["time_of_builds"]
    least, most = (round(value / 1e6) for value in kept["hops_per_second_of_transports"])
    beside = kept["ns2"]["release"]
    ample, collapse = beside["ample buffer"], beside["32-packet buffer, in collapse"]
    yield _item(
        f"{hops / 1e6:.0f} million packet-hops per second with NewReno and ample buffer, and "
        f"{least} to {most} million with other transports (a packet-hop is one packet, data or "
        "ACK, that crosses one link);"
    )
    yield _item(
        f"{ample:.0f} times the speed of ns-2 with ample buffer, {collapse:.0f} times in collapse;"
    )
    if "htsim" in kept:
        yield _item(f"at least {kept['htsim']['release']:.1f} times the speed of htsim;")
    less, more = 100 * (1 - times["pgo"]), 100 * (times["demo"] - 1)
    yield _item(
        f"{less:.0f} % less time with the fast build, which wheels are made of, and {more:.0f} % "
        "more with the build of `make demo`, which is compiled sooner;"
    )


def _item(text: str) -> str:
    return textwrap.fill(text, 100, initial_indent="- ", subsequent_indent="  ")


_SPEED = ROOT / "benches" / "timing" / "speed.json"


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict) and not key.startswith("delayed_ack"):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _cell(value: object, mss: int) -> str:
    """Write a resolved value. For a part, write only the name, because its parameters differ."""
    return "" if value is None else f"`{schema.human(value, mss)}`"


def _variants(about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the variants of the table that a key holds; an empty list if it holds no table."""
    parts = about.get("anyOf", [])
    kinds = (
        parts if parts and all("$ref" in part for part in parts) else [about.get("items", about)]
    )
    found = [schema.definition(kind) for kind in kinds]
    return [one for kind in found for one in kind.get("oneOf", [kind]) if "properties" in one]


def _keys(keys: dict[str, Any], indent: str = "") -> Iterator[str]:
    for key, about in keys.items():
        choices = schema.choices(about)
        plain = [f"`{name}`" for name, meaning in choices if not meaning]
        among = f" One of {', '.join(plain)}." * bool(plain)
        meaning = _text(about.get("description", ""))
        yield f"{indent}- {_head(key, about)}: {meaning}{among}"
        for name, meaning in choices:
            if meaning:
                yield f"{indent}  - `{name}`: {_text(meaning)}"
        if key != "transport":  # background traffic has the same transports as above
            for table in schema.tables(about):
                if "const" not in table["properties"].get("name", {}):
                    yield from _keys(table["properties"], f"{indent}  ")
    if not indent:
        yield ""


def _head(key: str, about: dict[str, Any]) -> str:
    default = schema.default(about)
    return f"**`{key}`** ({schema.accepts(about)}{f'; default `{default}`' * bool(default)})"


def _text(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


WRITERS: dict[str, Callable[[], Iterator[str]]] = {
    "tables": tables,
    "names": names,
    "columns": columns,
    "profiles": profiles,
    "models": models,
    "figures": figures,
    "demo": demo,
    "bars": bars,
    "speed": speed,
}


def pages() -> dict[Path, str]:
    """Return the pages with generated parts, and the up-to-date content of each page."""
    found = {}
    for file in PAGES:
        text = file.read_text(encoding="utf-8")
        if WRITTEN.search(text):
            found[file] = WRITTEN.sub(_between, text)
    return found


def _between(marks: re.Match[str]) -> str:
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(WRITERS[marks[2]]())).strip("\n")
    return f"{marks[1]}\n{text}\n\n{marks[3]}"
